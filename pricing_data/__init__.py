"""The tables that ship. Data only: `derive.shipped` reads them from beside `derive`, whatever else bears this name."""
