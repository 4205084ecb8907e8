/**
 * Columns out of an .npz file as the service writes it: a zip of uncompressed NumPy arrays with one axis.
 * Numbers become Float64Array; texts are read one by one, as there may be many of the same.
 */

const END = 0x06054b50;
const ENTRY = 0x02014b50;

export class NpzError extends Error {}

export class Npz {
  /** @param {ArrayBuffer} buffer */
  constructor(buffer) {
    this.buffer = buffer;
    this.view = new DataView(buffer);
    /** @type {Map<string, number>} where the data of each entry begins */
    this.entries = new Map();
    let end = buffer.byteLength - 22;
    while (end >= 0 && this.view.getUint32(end, true) !== END) end -= 1;
    if (end < 0) throw new NpzError("The file has no directory: it is not whole.");
    let at = this.view.getUint32(end + 16, true);
    for (let left = this.view.getUint16(end + 10, true); left > 0; left -= 1) at = this.readEntry(at);
  }

  /** @param {number} at @returns {number} of the next entry of the directory */
  readEntry(at) {
    const { view } = this;
    if (view.getUint32(at, true) !== ENTRY) throw new NpzError("The directory of the file cannot be read.");
    const [name, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const file = new TextDecoder().decode(new Uint8Array(this.buffer, at + 46, name));
    if (view.getUint16(at + 10, true) !== 0) throw new NpzError(`${file} is compressed.`);
    const local = view.getUint32(at + 42, true);
    this.entries.set(file.replace(/\.npy$/, ""), local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true));
    return at + 46 + name + extra + comment;
  }

  /** @param {string} name */
  has(name) {
    return this.entries.has(name);
  }

  /** @param {string} name @returns {{type: string, count: number, at: number}} type as NumPy names it */
  header(name) {
    const at = this.entries.get(name);
    if (at === undefined) throw new NpzError(`There is no ${name} in the file.`);
    const long = this.view.getUint8(at + 6) > 1;
    const length = long ? this.view.getUint32(at + 8, true) : this.view.getUint16(at + 8, true);
    const start = at + (long ? 12 : 10);
    const text = new TextDecoder().decode(new Uint8Array(this.buffer, start, length));
    const type = /'descr': '([^']+)'/.exec(text)?.[1] ?? "";
    const shape = /'shape': \((\d*)/.exec(text)?.[1] ?? "";
    return { type, count: shape === "" ? 1 : Number(shape), at: start + length };
  }

  /** @param {string} name @returns {Float64Array} */
  numbers(name) {
    const { type, count, at } = this.header(name);
    const size = Number(type.slice(2));
    const bytes = this.buffer.slice(at, at + count * size);
    switch (type.slice(1)) {
      case "f8": return new Float64Array(bytes);
      case "f4": return Float64Array.from(new Float32Array(bytes));
      case "i8": return Float64Array.from(new BigInt64Array(bytes), Number);
      case "i4": return Float64Array.from(new Int32Array(bytes));
      case "i2": return Float64Array.from(new Int16Array(bytes));
      case "i1": case "b1": return Float64Array.from(new Int8Array(bytes));
      default: throw new NpzError(`${name} has the type ${type}.`);
    }
  }

  /** @param {string} name @returns {(row: number) => string} */
  texts(name) {
    const { type, at } = this.header(name);
    const width = Number(type.slice(2));
    if (type[1] !== "U") throw new NpzError(`${name} has the type ${type}.`);
    return (row) => {
      let text = "";
      for (let k = 0; k < width; k += 1) {
        const code = this.view.getUint32(at + 4 * (row * width + k), true);
        if (code === 0) break;
        text += String.fromCodePoint(code);
      }
      return text;
    };
  }
}
