"""One reader and one writer of CSV tables, described by datapackage.json: `lines`, `cells`, `rows`, `shipped` and `writing`."""
