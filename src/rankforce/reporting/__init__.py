"""``rf.report``: a model on data, as one page that needs nothing else.

Each file collects one part of the page out of results of the packages below (``evaluate``, ``compare``, ``explain``,
``importance``, ``forces_at``, ``inspect``, ``drift``): nothing is computed here a second time. ``page.py`` writes the
file; what the browser does is in ``assets``.
"""
