"""A page in headless Chromium, over its DevTools pipe: page_browser.py CHROMIUM PAGE FOLDER CHECK, FOLDER being
empty; CHECK one of those below, `text` for the page as its script makes it, FOLDER/page.html, or `shots` for pictures of it in
FOLDER. Prints what is wrong."""
import base64
import json
import os
import pathlib
import subprocess
import sys

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
PHONE, DESK = (390, 844), (1400, 900)

# Text whose contrast with its background is below the limit of WCAG 2.1 (AA).
CONTRAST = """
(() => {
  const rgb = text => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = c => { const v = c / 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const bad = new Map();
  let seen = 0;
  for (const e of document.querySelectorAll("body, body *")) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length) continue;
    if (["SCRIPT", "STYLE"].includes(e.tagName)) continue;
    const style = getComputedStyle(e), svg = e instanceof SVGElement;
    const a = luminance(rgb(svg ? style.fill : style.color)), b = luminance(behind(svg ? e.closest("div") : e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    seen++;
    if (ratio < (large ? 3 : 4.5))
      bad.set(`${e.tagName}.${e.getAttribute("class")} ${svg ? style.fill : style.color}`, ratio.toFixed(2) + " " + e.textContent.slice(0, 40));
  }
  return {seen, bad: [...bad]};
})()
"""

# Elements that exceed the page's width although no element around them scrolls.
WIDE = """
(() => {
  const width = document.documentElement.clientWidth, page = document.documentElement.scrollWidth;
  const out = [...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll, svg, .skip") &&
      e.getBoundingClientRect().right > width + 1).map(e => e.tagName + "." + e.className + " " + e.textContent.slice(0, 40));
  return {width, page, out: out.slice(0, 5)};
})()
"""

OPEN_ALL = "document.querySelectorAll('details').forEach(d => d.open = true)"


class Browser:
    """One tab. `problems` collects the errors of the page and its requests to the network."""

    def __init__(self, program, folder):
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()

        def wire():
            high = os.dup(from_write)  # 3 and 4 may be ends of pipes already
            os.dup2(to_read, 3)
            os.dup2(high, 4)
            os.set_inheritable(3, True)

        self.log = open(folder / "chromium.log", "w")
        self.process = subprocess.Popen([program, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
                                        preexec_fn=wire, close_fds=False, stderr=self.log, stdout=self.log)
        os.close(to_read)
        os.close(from_write)
        self.number, self.rest, self.session, self.events, self.problems = 0, b"", None, [], []
        self.shown = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in "Page", "Runtime", "Log", "Network":
            self.call(part + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            bytes_read = os.read(self.from_read, 1 << 16)
            if not bytes_read:
                raise SystemExit("the browser ended: " + pathlib.Path(self.log.name).read_text()[-500:])
            self.rest += bytes_read
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        self.look(message)
        return message

    def look(self, message):
        method, what = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append("exception: " + what["exceptionDetails"].get("text", ""))
        if method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
            self.problems.append("console: " + str(what["args"]))
        if method == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.problems.append("log: " + what["entry"]["text"])
        if method == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("file:", "data:")):
            self.problems.append("network: " + what["request"]["url"])
        if method:
            self.events.append(method)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{script[:60]}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def show(self, page, size, scheme="light"):
        """The page as a check before has left it: a large one takes seconds to load."""
        if self.shown != page:
            self.open(page, size, scheme)
        else:
            self.emulate(size, scheme)

    def emulate(self, size, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1,
                  mobile=size == PHONE)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, page, size, scheme="light"):
        self.emulate(size, scheme)
        self.events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        while "Page.loadEventFired" not in self.events:
            self.receive()
        self.shown = page

    def press(self, key, code, text=""):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def close(self):
        os.write(self.to_write, b'{"id": 0, "method": "Browser.close"}\0')
        self.process.wait()
        os.close(self.to_write)
        os.close(self.from_read)
        self.log.close()


def check_figures(browser, page):
    browser.show(page, DESK)
    seen = browser.evaluate("[...document.querySelectorAll('.figure')].map(f => [f.id, "
                            "f.querySelector('svg').getBoundingClientRect().width])")
    yield from ["no figure"] if not seen else []
    yield from (f"{name} is {width} wide" for name, width in seen if width < 200)
    foreign = browser.evaluate("document.querySelectorAll('img, iframe, object, script:not([type]) ~ script').length")
    if foreign:
        yield f"{foreign} elements that are none of the page's"


def check_phone(browser, page):
    browser.show(page, PHONE)
    browser.evaluate(OPEN_ALL)
    seen = browser.evaluate(WIDE)
    if seen["width"] != PHONE[0] or seen["page"] > seen["width"] or seen["out"]:
        yield f"wider than {PHONE[0]}: {seen}"


def check_contrast(browser, page):
    for scheme in "light", "dark":
        browser.show(page, DESK, scheme)
        browser.evaluate(OPEN_ALL)
        seen = browser.evaluate(CONTRAST)
        yield from [f"{scheme}: only {seen['seen']} texts"] if seen["seen"] < 100 else []
        yield from (f"{scheme}: {what} has {ratio}" for what, ratio in seen["bad"])
        page_colour = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        is_dark = max(int(part) for part in page_colour[4:-1].split(",")) < 128
        if is_dark != (scheme == "dark"):
            yield f"{scheme}: the page is {page_colour}"


ACTIVE = "(e => e.id || (e.closest('th') && e.tagName === 'BUTTON' ? 'sort' : e.tagName))(document.activeElement)"
ORDER = ("[...document.activeElement.closest('table').tBodies[0].rows].map(r => "
         "r.cells[document.activeElement.closest('th').cellIndex].textContent)")


def tab_to(browser, wanted, most=60):
    for _ in range(most):
        browser.press("Tab", 9)
        if browser.evaluate(ACTIVE) == wanted:
            return True
    return False


def check_keyboard(browser, page):
    browser.open(page, DESK)
    if not tab_to(browser, "search"):
        yield "Tab does not reach the search"
        return
    browser.call("Input.insertText", text="no such figure at all")
    if browser.evaluate("[...document.querySelectorAll('.figure')].some(f => f.getClientRects().length > 0)"):
        yield "a search for nothing finds figures"
    last = browser.evaluate("[...document.querySelectorAll('.run')].pop().id")
    browser.evaluate(f"location.hash = {json.dumps('#' + last)}")
    if not browser.evaluate(f"document.getElementById({json.dumps(last)}).getClientRects().length"):
        yield f"#{last} stays hidden by the search"
    browser.evaluate("document.getElementById('search').focus()")
    browser.evaluate("document.getElementById('search').value = ''")
    browser.call("Input.insertText", text=browser.evaluate("document.querySelector('.figure h3').textContent"))
    if not browser.evaluate("document.querySelector('.figure').getClientRects().length") or "of" not in browser.evaluate(
            "document.getElementById('found').textContent"):
        yield "a search for a figure's name does not find it"
    if not tab_to(browser, "sort"):
        yield "Tab does not reach a button that sorts"
        return
    orders = []
    for wanted in "ascending", "descending":
        browser.press("Enter", 13, "\r")
        orders.append(browser.evaluate(ORDER))
        if browser.evaluate("document.activeElement.closest('th').getAttribute('aria-sort')") != wanted:
            yield f"Enter does not sort {wanted}"
    if orders[0] != sorted(orders[0], key=str.lower) or orders[1] != sorted(orders[0], key=str.lower, reverse=True):
        yield f"not sorted: {orders}"


def check_address(browser, page):
    """The address of a row unfolds the table of the row and scrolls to the row."""
    browser.open(page, DESK)
    row = browser.evaluate("[...document.querySelectorAll('.figure details:not([open]) tr[id], tr[id]')].pop().id")
    browser.evaluate(f"location.hash = {json.dumps('#' + row)}")
    top = browser.evaluate(f"document.getElementById({json.dumps(row)}).getClientRects().length")
    if not top:
        yield f"#{row} stays folded in"


def check_print(browser, page):
    browser.show(page, DESK, "dark")
    browser.call("Emulation.setEmulatedMedia", media="print",
                 features=[{"name": "prefers-color-scheme", "value": "dark"}])
    if browser.evaluate("getComputedStyle(document.body).color") != "rgb(27, 31, 36)":
        yield "text is not dark on paper"


def check_no_script(browser, page):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page, DESK)
    document = browser.call("DOM.getDocument")["root"]["nodeId"]
    count = {selector: len(browser.call("DOM.querySelectorAll", nodeId=document, selector=selector)["nodeIds"])
             for selector in (".figure", ".figure svg", ".figure figcaption", ".figure:has(pre), .figure:has(a[href$=-table])",
                              "nav tbody tr", "th button", ".search[hidden]")}
    shown = {count[".figure svg"], count[".figure figcaption"], count[".figure:has(pre), .figure:has(a[href$=-table])"]}
    if shown != {count[".figure"]} or count["nav tbody tr"] == 0 or count["th button"] or count[".search[hidden]"] != 1:
        yield f"without script: {count}"


CHECKS = {"figures": check_figures, "phone": check_phone, "contrast": check_contrast, "keyboard": check_keyboard,
          "address": check_address, "print": check_print, "no_script": check_no_script}


def shoot(browser, page, folder):
    for name, size, scheme in (("desk", DESK, "light"), ("phone", PHONE, "light"), ("dark", DESK, "dark")):
        browser.open(page, size, scheme)
        height = min(browser.evaluate("document.documentElement.scrollHeight"), 6000)
        browser.call("Emulation.setDeviceMetricsOverride", width=size[0], height=height, deviceScaleFactor=1,
                     mobile=size == PHONE)
        picture = browser.call("Page.captureScreenshot", format="png")["data"]
        (folder / f"{name}.png").write_bytes(base64.b64decode(picture))
    browser.open(page, DESK)
    (folder / "page.pdf").write_bytes(base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"]))


def main():
    program, page, folder, wanted = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4:]
    browser = Browser(program, folder)
    wrong = []
    for name in wanted:
        if name == "shots":
            shoot(browser, page, folder)
        elif name == "text":
            browser.show(page, DESK)
            text = browser.evaluate("document.documentElement.outerHTML")
            (folder / "page.html").write_text("<!DOCTYPE html>" + text, encoding="utf-8")
        else:
            wrong += [f"{name}: {what}" for what in CHECKS[name](browser, page)]
    wrong += browser.problems
    browser.close()
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
