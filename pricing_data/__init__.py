"""The tables that ship. Data only: `derive.tables.shipped` reads them from beside `derive`, whatever else bears this name.

What a row of each is, typed, stands in `derive.preset_rows`, `invert.sheets.rows` and `invert.validation.claim_rows`.
"""
