"""A store in an SQL database: what is the same in every dialect, written once."""
