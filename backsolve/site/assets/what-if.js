// A sheet at other prices: fields for the published ones, and the readings that have a closed form, worked out anew as they change.
"use strict";
(() => {
  const { engine, form } = backsolve, { element } = form;
  const place = document.getElementById("what-if-form");
  const { fields, readings } = JSON.parse(document.getElementById("what-if-data").textContent);
  const published = Object.fromEntries(fields.map(({ name, usd_per_token: price }) => [name, price])), prices = { ...published };
  const shown = (value, { size, unit }) => `${Number((value / size).toPrecision(3)).toLocaleString("en")} ${unit}`.trim();

  const asking = fields.map(({ name, words, quantity }) => {
    const id = `what-if-${name}`, row = engine.rowOf(backsolve.quantities[quantity]), [[, size, unit]] = row.units;
    const input = element("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-fault`, oninput: typed });
    const fault = element("p", { id: `${id}-fault`, role: "alert" });
    function told(found) {
      fault.textContent = "fault" in found ? `${words} ${found.fault}` : "";
      input.setAttribute("aria-invalid", String("fault" in found));
    }
    function typed() {
      const found = form.read(row, input.value, 0);
      told(found);
      prices[name] = found.value ?? null;
      notice.textContent = "";
      work();
      toAddress();
    }
    function put() {
      input.value = form.figure(prices[name] / size, 12);
      told({});
    }
    const take = form.takenInto(prices, name, (price) => "value" in form.withinDomain(row, price), (text) => Number(text) * size);
    return { name, put, take, root: element("div", {}, element("label", { for: id }, `${words} [${unit.trim()}]`), input, fault), inUnit: () => form.figure(prices[name] / size, 12) };
  });
  const notice = element("p", { role: "alert" });
  const back = element("button", { type: "button", onclick: asPublished }, "As published");
  const asked = element("form", { class: "what-if", "aria-label": "Prices", onsubmit: (event) => event.preventDefault() }, ...asking.map(({ root }) => root), back);
  const toAddress = form.inAddress(() => Object.fromEntries(asking.filter(({ name }) => prices[name] !== null && prices[name] !== published[name]).map(({ name, inUnit }) => [name, inUnit()])));

  function asPublished() {
    Object.assign(prices, published);
    notice.textContent = "";
    for (const { put } of asking) put();
    work();
    toAddress();
  }
  /** The prices of a link, whose place on the page is then this one. */
  function fromAddress() {
    Object.assign(prices, published);
    notice.textContent = form.fromAddress(Object.fromEntries(asking.map(({ name, take }) => [name, take])));
    for (const { put } of asking) put();
    work();
    if (notice.textContent || fields.some(({ name }) => prices[name] !== published[name])) place.parentElement.scrollIntoView();
  }

  const cells = readings.map(() => element("td"));
  const rows = readings.map((reading, at) => element("tr", {}, element("th", { scope: "row" }, reading.words), element("td", {}, shown(reading.value, reading)), cells[at]));
  const heads = ["reading", "as published", "at these prices"].map((text) => element("th", { scope: "col" }, text));
  const said = element("div", { class: "scroll", role: "status", tabindex: "0", "aria-label": "Readings" },
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));

  function work() {
    const wrong = fields.find(({ name }) => prices[name] === null);
    readings.forEach((reading, at) => {
      const values = wrong ? {} : engine.chain(reading.legs, { ...reading.given, ...prices });
      const held = !wrong && reading.legs.every(({ makes }) => Number.isFinite(values[makes]) && values[makes] >= 0);
      cells[at].textContent = wrong ? `none: ${wrong.words} cannot be used as it stands` : held ? shown(values[reading.makes], reading) : "none: such prices contradict it";
    });
  }
  place.append(notice, asked, said);
  fromAddress();
  addEventListener("hashchange", fromAddress);
})();
