"""Databases of prices that other people maintain: one module reads each of them, and `pull` combines them into rows of prices."""
