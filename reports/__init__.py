"""Results for people and programs: console tables, the JSON contract."""
