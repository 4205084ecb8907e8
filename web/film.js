/** Pictures and videos of the view, with the background that the page draws behind it. */

/** @import {View} from "./view.js" */
import { themeColor } from "./theme.js";

const FRAMES_PER_SECOND = 30;
const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];

/** @type {{recorder: MediaRecorder, parts: Blob[]} | null} */
let running = null;

/** @returns {string | null} the first type of video that this browser can write */
export function videoType() {
  return typeof MediaRecorder === "undefined" ? null : TYPES.find((type) => MediaRecorder.isTypeSupported(type)) ?? null;
}

export function isRecording() {
  return running !== null;
}

/** @param {View} view @returns {Promise<Blob>} PNG */
export function pictureOf(view) {
  const sheet = sheetFor(view);
  // what a canvas shows can only be read in the same task that drew it
  view.render(performance.now());
  paint(view, sheet);
  return new Promise((resolve, reject) => sheet.canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is empty"))), "image/png"));
}

/** @param {View} view */
export function startVideo(view) {
  const sheet = sheetFor(view);
  const recorder = new MediaRecorder(sheet.canvas.captureStream(FRAMES_PER_SECOND), { mimeType: videoType() ?? "" });
  /** @type {Blob[]} */
  const parts = [];
  recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
  view.onRendered = () => paint(view, sheet);
  recorder.start();
  running = { recorder, parts };
}

/** @param {View} view @returns {Promise<Blob>} rejected where nothing is recorded, or nothing more */
export function stopVideo(view) {
  view.onRendered = null;
  return new Promise((resolve, reject) => {
    if (!running) return reject(new Error("No video is being recorded."));
    const { recorder, parts } = running;
    running = null;
    recorder.addEventListener("stop", () => resolve(new Blob(parts, { type: recorder.mimeType })));
    // a recorder that has ended by itself ends no second time, and throws
    recorder.stop();
  });
}

/** @param {View} view @returns {CanvasRenderingContext2D} of the size of the view */
function sheetFor(view) {
  const canvas = document.createElement("canvas");
  canvas.width = view.stage.canvas.width;
  canvas.height = view.stage.canvas.height;
  const sheet = canvas.getContext("2d");
  if (!sheet) throw new Error("this browser draws no pictures");
  return sheet;
}

/** @param {View} view @param {CanvasRenderingContext2D} sheet */
function paint(view, sheet) {
  const { width, height } = sheet.canvas;
  const light = sheet.createRadialGradient(width / 2, 0.28 * height, 0, width / 2, 0.28 * height, 0.9 * Math.max(width, height));
  light.addColorStop(0, themeColor("stage-top"));
  light.addColorStop(1, themeColor("stage-bottom"));
  sheet.fillStyle = light;
  sheet.fillRect(0, 0, width, height);
  sheet.drawImage(view.stage.canvas, 0, 0, width, height);
  const ratio = width / view.stage.host.clientWidth;
  Object.assign(sheet, { font: `600 ${Math.round(12 * ratio)}px ${themeColor("font")}`, textAlign: "center", textBaseline: "middle", strokeStyle: themeColor("panel"), lineWidth: 3 * ratio });
  for (const { text, x, y, mark } of view.extras?.names.shown ?? []) {
    sheet.fillStyle = themeColor(mark === "failure" ? "bad" : "text");
    sheet.strokeText(text, x * ratio, y * ratio);
    sheet.fillText(text, x * ratio, y * ratio);
  }
}
