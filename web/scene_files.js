/** Files that were chosen or dropped: a scene, or a model of a robot with its meshes, of which the service makes a scene. */
import { ProblemError, importModel } from "./api.js";
import { formatted } from "./scene_format.js";

const MODEL = /\.(urdf|xml|mjcf|zip)$/i;
/** Of a text: a service takes no more unless it is told to, and the editor is slow before. */
const MOST_BYTES = 64 * 1024 ** 2;

/** Whether the service has to read them. @param {File[]} files */
export function areModel(files) {
  return files.length > 1 || MODEL.test(files[0].name);
}

/**
 * @param {File[]} files @param {Parameters<typeof importModel>[1]} options
 * @returns {Promise<{text: string, notes: import("./types.js").ImportNote[]}>}
 */
export async function readFiles(files, options) {
  if (!areModel(files)) return { text: await textOf(files[0]), notes: [] };
  // what cannot be read would look like a service that does not answer
  for (const file of files) await bytesOf(file, file.slice(0, 1));
  const { scene, report } = await importModel(files, options);
  return { text: formatted(scene), notes: report.notes };
}

/** @param {File} file @returns {Promise<string>} */
async function textOf(file) {
  if (file.size > MOST_BYTES) throw unread(file, `has ${Math.round(file.size / 1e6)} MB. The editor takes ${Math.round(MOST_BYTES / 1e6)}, as does the service unless its settings say otherwise.`);
  const bytes = await bytesOf(file, file);
  if (!bytes.byteLength) throw unread(file, "is empty.");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unread(file, "is no text in UTF-8. A scene is a JSON document; robots are URDF, MJCF or a zip of one.");
  }
}

/** @param {File} file @param {Blob} part of it */
async function bytesOf(file, part) {
  return part.arrayBuffer().catch(() => {
    throw unread(file, "cannot be read. It may be a folder (drop its files, or a zip of them), or have changed since.");
  });
}

/** @param {File} file @param {string} why */
function unread({ name }, why) {
  return new ProblemError({ title: "The file was not read", code: "unread_file", detail: `“${name}” ${why}` });
}
