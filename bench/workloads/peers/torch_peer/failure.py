"""Errors that end the program, with the exit statuses of all programs here."""

FAILED, USAGE, UNAVAILABLE = 1, 2, 3


class Failure(Exception):
    """`text` is "" if the reason has been printed already."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status, self.text = status, text
