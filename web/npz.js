/**
 * Columns out of an .npz file as the service writes it: a zip of NumPy arrays with one axis. Numbers
 * become Float64Array; texts are read one by one, as there may be many of the same.
 */

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const METHODS = { stored: 0, deflated: 8 };

class NpzError extends Error {}

/** @param {ArrayBuffer} buffer @returns {Promise<Npz>} */
export async function openNpz(buffer) {
  const view = new DataView(buffer);
  let end = buffer.byteLength - 22;
  while (end >= 0 && view.getUint32(end, true) !== END) end -= 1;
  if (end < 0) throw new NpzError("The file has no directory: it is not whole.");
  /** @type {Promise<[string, DataView]>[]} */
  const entries = [];
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    if (view.getUint32(at, true) !== ENTRY) throw new NpzError("The directory of the file cannot be read.");
    const [name, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    entries.push(entry(view, at, new TextDecoder().decode(new Uint8Array(buffer, at + 46, name))));
    at += 46 + name + extra + comment;
  }
  return new Npz(new Map(await Promise.all(entries)));
}

/** @param {DataView} view @param {number} at of its entry in the directory @param {string} file @returns {Promise<[string, DataView]>} */
async function entry(view, at, file) {
  const [method, packed, local] = [view.getUint16(at + 10, true), view.getUint32(at + 20, true), view.getUint32(at + 42, true)];
  const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  const name = file.replace(/\.npy$/, "");
  if (method === METHODS.stored) return [name, new DataView(view.buffer, start, packed)];
  if (method !== METHODS.deflated) throw new NpzError(`${file} is packed in an unknown way.`);
  const unpacked = new Blob([new Uint8Array(/** @type {ArrayBuffer} */ (view.buffer), start, packed)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return [name, new DataView(await new Response(unpacked).arrayBuffer())];
}

export class Npz {
  /** @param {Map<string, DataView>} entries */
  constructor(entries) {
    this.entries = entries;
  }

  /** @param {string} name */
  has(name) {
    return this.entries.has(name);
  }

  /** @param {string} name @returns {{type: string, count: number, data: DataView}} type as NumPy names it */
  header(name) {
    const view = this.entries.get(name);
    if (view === undefined) throw new NpzError(`There is no ${name} in the file.`);
    const long = view.getUint8(6) > 1;
    const length = long ? view.getUint32(8, true) : view.getUint16(8, true);
    const start = long ? 12 : 10;
    const text = new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + start, length));
    const type = /'descr': '([^']+)'/.exec(text)?.[1] ?? "";
    const shape = /'shape': \((\d*)/.exec(text)?.[1] ?? "";
    return { type, count: shape === "" ? 1 : Number(shape), data: new DataView(view.buffer, view.byteOffset + start + length) };
  }

  /** @param {string} name @returns {Float64Array} */
  numbers(name) {
    const { type, count, data } = this.header(name);
    const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + count * Number(type.slice(2)));
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
    const { type, data } = this.header(name);
    const width = Number(type.slice(2));
    if (type[1] !== "U") throw new NpzError(`${name} has the type ${type}.`);
    return (row) => {
      let text = "";
      for (let k = 0; k < width; k += 1) {
        const code = data.getUint32(4 * (row * width + k), true);
        if (code === 0) break;
        text += String.fromCodePoint(code);
      }
      return text;
    };
  }
}
