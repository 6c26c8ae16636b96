"""Serves a folder over HTTP on loopback, byte ranges included. The first part of a path says how:

whole/NAME    the file, or the range of it that is asked for
cut/NAME      only half of a file that is asked for as a whole
norange/NAME  all of the file, whatever is asked for

Arguments: the folder, a file that gets the port, a log of requests with their ranges.
"""
import http.server
import os
import re
import sys

folder, port_file, log = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        how, _, name = self.path.strip("/").partition("/")
        wanted = self.headers.get("Range")
        with open(log, "a") as out:
            print(self.path, wanted or "all", file=out)
        try:
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
        except OSError:
            self.send_error(404)
            return
        begin = int(re.match(r"bytes=(\d+)-", wanted)[1]) if wanted and how != "norange" else 0
        if wanted and begin >= len(data):
            self.send_error(416)
            return
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        cut = how == "cut" and not begin
        self.wfile.write(data[begin : len(data) // 2 if cut else len(data)])

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".part", "w") as out:
    print(server.server_port, file=out)
os.rename(port_file + ".part", port_file)
server.serve_forever()
