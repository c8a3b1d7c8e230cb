// Before each text that is there to be copied a button that does it.
"use strict";
(() => {
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
  for (const text of document.querySelectorAll("pre.copied")) {
    const button = document.createElement("button");
    const said = `Copy ${text.closest("details").querySelector("summary").textContent}`;
    button.type = "button";
    button.textContent = said;
    button.addEventListener("click", async () => {
      const done = await copied(text.textContent);
      if (!done) select(text);
      button.textContent = done ? "Copied" : "Selected: copy it with the keyboard";
      setTimeout(() => { button.textContent = said; }, 2000);
    });
    text.before(button);
  }
})();
