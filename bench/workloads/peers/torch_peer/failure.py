"""Errors that end the program; exit statuses as every program here has them."""

FAILED, USAGE, UNAVAILABLE = 1, 2, 3


class Failure(Exception):
    """`text` is "" where somebody has said why already."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status, self.text = status, text
