"""From a question to numbers. Read `plan` (the order of equations), `engine` (a way with numbers), `find` (the first way that answers),
then `one_equation`."""
