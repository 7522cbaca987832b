"""Run the pages of the guide and keep their pictures: ``python docs/images/guide.py [NAME ...]``."""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GUIDE = Path(__file__).parents[1] / "guide"
FOLDER = Path(__file__).parent / "guide"
BLOCK = re.compile(r"^```(python)?\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
# Where a page without Python leaves its picture.
DRAWN = {"three-dimensions": "runs/cooler/fields.png"}


def run_page(page, folder):
    """Run all code and all commands of a page, in their order."""
    for language, code in BLOCK.findall(page.read_text()):
        if language:
            (folder / "script.py").write_text(code)
            subprocess.run([sys.executable, "script.py"], cwd=folder, check=True)
            continue
        for line in code.strip().splitlines():
            _, *options = shlex.split(line, comments=True)
            subprocess.run([sys.executable, "-m", "gola", *options], cwd=folder, check=True)


def main(names):
    """Run pages, all by default."""
    for name in names or [page.stem for page in sorted(GUIDE.glob("*.md")) if page.stem != "index"]:
        with tempfile.TemporaryDirectory() as folder:
            run_page(GUIDE / f"{name}.md", Path(folder))
            shutil.copy(Path(folder) / DRAWN.get(name, f"{name}.png"), FOLDER / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
