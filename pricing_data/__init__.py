"""The tables that ship. Data only: `derive.shipped` reads them from beside `derive`, whatever else bears this name.

What a row of each is, typed, stands in `derive.preset_rows` and `derive.price_rows`.
"""
