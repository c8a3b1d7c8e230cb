// A sheet at other prices: fields for the published ones, and the readings that have a closed form, worked out anew as they change.
"use strict";
(() => {
  const place = document.getElementById("what-if-form");
  const { fields, readings } = JSON.parse(document.getElementById("what-if-data").textContent);
  const PER_MTOK = 1e-6;

  const made = (name, attributes = {}, text = "") => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };
  const shown = (value, { size, unit }) => `${Number((value / size).toPrecision(3)).toLocaleString("en")} ${unit}`.trim();

  const form = made("form", { class: "what-if", "aria-label": "Prices" });
  const inputs = fields.map((field) => {
    const id = `what-if-${field.name}`, box = made("div");
    const input = made("input", { id, type: "number", min: "0", step: "any", value: field.value });
    box.append(made("label", { for: id }, `${field.words} [USD/MTok]`), input);
    form.append(box);
    return input;
  });
  const back = made("button", { type: "reset" }, "As published");
  form.append(back);

  const table = made("table"), body = made("tbody");
  const head = made("tr");
  for (const text of ["reading", "as published", "at these prices"]) head.append(made("th", { scope: "col" }, text));
  const top = made("thead");
  top.append(head);
  table.append(top, body);
  const cells = readings.map((reading) => {
    const row = made("tr"), cell = made("td");
    row.append(made("th", { scope: "row" }, reading.words), made("td", {}, shown(reading.value, reading)), cell);
    body.append(row);
    return cell;
  });
  const said = made("div", { class: "scroll", role: "status", tabindex: "0", "aria-label": "Readings" });
  said.append(table);

  const work = () => {
    const prices = {};
    let wrong = false;
    inputs.forEach((input, at) => {
      const price = Number(input.value), bad = input.value.trim() === "" || !(price > 0) || !Number.isFinite(price);
      input.setAttribute("aria-invalid", String(bad));
      wrong = wrong || bad;
      prices[fields[at].name] = price * PER_MTOK;
    });
    readings.forEach((reading, at) => {
      const values = wrong ? {} : globalThis.backsolve.engine.chain(reading.legs, { ...reading.given, ...prices });
      const steps = wrong ? [NaN] : reading.legs.map((leg) => values[leg.makes]);
      const held = steps.every((value) => Number.isFinite(value) && value >= 0);
      cells[at].textContent = wrong ? "a price is above 0" : held ? shown(values[reading.makes], reading) : "none: such prices contradict it";
    });
  };
  form.addEventListener("input", work);
  form.addEventListener("reset", () => setTimeout(work));
  form.addEventListener("submit", (event) => event.preventDefault());
  place.append(form, said);
  work();
})();
