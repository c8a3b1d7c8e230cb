"""One reader and one writer of CSV tables, described by datapackage.json: `lines`, `cells`, `shipped` and `writing`."""
