"""The site: catalogue, book and documentation as static pages, out of the records that the commands print."""
