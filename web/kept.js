/**
 * What this browser keeps: choices, and the scenes it has shown, each under the session that ran it: a link or a reload shows the
 * scene again when the session itself is gone. Without IndexedDB (some private windows) nothing is kept.
 *
 * @import {Scene} from "./types.js"
 */
import { inBrowser } from "./storage.js";

const NAME = "cardan";
const STORE = "scenes";
const MAX_KEPT = 32;

/** @typedef {{id: string, scene: Scene, example: string | null, at: number}} Kept  `at`: ms since 1970, last shown */

/** @param {Omit<Kept, "at">} shown */
export async function keepScene(shown) {
  await within("readwrite", async (store) => {
    await answer(store.put({ ...shown, at: Date.now() }));
    const ids = await answer(store.index("at").getAllKeys());
    for (const id of ids.slice(0, -MAX_KEPT)) store.delete(id);
  });
}

/** @param {string} id of a session @returns {Promise<Kept | null>} */
export async function keptScene(id) {
  return (await within("readonly", (store) => answer(store.get(id)))) ?? null;
}

/** @returns {Promise<string[]>} ids of sessions, the one shown last first */
export async function keptSessions() {
  const ids = await within("readonly", (store) => answer(store.index("at").getAllKeys()));
  return /** @type {string[]} */ (ids ?? []).reverse();
}

/** What this browser has chosen; nothing, where something else stands in its place. @param {string} key @returns {Record<string, any>} */
export function keptChoices(key) {
  try {
    const kept = JSON.parse(inBrowser.get(key) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}

/**
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => Promise<T>} work
 * @returns {Promise<T | undefined>} undefined where nothing can be kept
 */
async function within(mode, work) {
  try {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" }).createIndex("at", "at");
    const database = await answer(request);
    try {
      return await work(database.transaction(STORE, mode).objectStore(STORE));
    } finally {
      database.close();
    }
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return undefined;
  }
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function answer(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
