"""Build the site: catalogue, book and documentation as static pages, from the records that the commands print."""
