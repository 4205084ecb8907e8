/** Texts that the browser keeps. Where it keeps none (site data blocked, no room) they last as long as the page. */

/** @param {() => Storage} place  to look it up fails where site data is blocked */
function texts(place) {
  /** @type {Map<string, string>} what it did not take */
  const refused = new Map();
  return {
    /** @param {string} key @returns {string | null} */
    get(key) {
      try {
        return refused.get(key) ?? place().getItem(key);
      } catch {
        return null;
      }
    },
    /** @param {string} key @param {string} text */
    set(key, text) {
      try {
        place().setItem(key, text);
        refused.delete(key);
      } catch {
        refused.set(key, text);
      }
    },
  };
}

/** for all tabs, and for the next visit */
export const inBrowser = texts(() => localStorage);
/** for this tab, also when it is loaded again */
export const inTab = texts(() => sessionStorage);
