// Before each text that is there to be copied a button that does it; and the same for texts that a page makes.
"use strict";
(() => {
  /** A button that copies a text, and says so. */
  const button = (said, text) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: said });
    made.addEventListener("click", async () => {
      made.textContent = (await copied(text())) ? "copied" : text();
      setTimeout(() => { made.textContent = said; }, 2000);
    });
    return made;
  };
  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  };
  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };
  /** A button that says `said` and copies the text of an element, which `made` puts there first. */
  const buttonFor = (text, said, made = () => {}) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = said;
    button.addEventListener("click", async () => {
      made();
      const done = await copied(text.textContent);
      if (!done) select(text);
      button.textContent = done ? "Copied" : "Selected: copy it with the keyboard";
      setTimeout(() => { button.textContent = said; }, 2000);
    });
    return button;
  };
  for (const text of document.querySelectorAll("pre.copied")) text.before(buttonFor(text, `Copy ${text.closest("details").querySelector("summary").textContent}`));
  (globalThis.backsolve ??= {}).copy = { button, buttonFor };
})();
