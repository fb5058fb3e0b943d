"""How an index stays at what the folder holds: look (scanning), put one file in (indexing), go over all (passes), wait
for changes (watching), and run that in the background (keeping). Uploads come in here too."""
