/**
 * Colours of the picture, for those who check it.
 *
 * @import {Stage} from "./stage.js"
 */

/** @param {Stage} stage @param {[number, number][]} places [x, y] from the left and lower edge, 0 to 1 @returns {number[][]} [r, g, b, a] 0 to 255 */
export function coloursOf(stage, places) {
  const gl = stage.renderer.getContext();
  const { drawingBufferWidth: width, drawingBufferHeight: height } = gl;
  const pixels = new Uint8Array(4 * width * height);
  stage.draw();
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  return places.map(([x, y]) => Array.from(pixels.subarray(4 * (Math.round(y * height) * width + Math.round(x * width))).subarray(0, 4)));
}
