# Stands for a migration: does its work and ends.
echo "migrate: 3 tables brought up to date"
