#!/usr/bin/env python3
"""Makes the VS Code extension of editors/vscode, without a network or Node: vsix.py OUT writes OUT/hlokit-VERSION.vsix. The
same tree gives the same bits."""
import os
import pathlib
import re
import sys
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = ("package.json", "extension.js", "language-configuration.json", "syntaxes/hlo.tmLanguage.json")
TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".json" ContentType="application/json"/><Default Extension=".js" ContentType="application/javascript"/>
  <Default Extension=".md" ContentType="text/markdown"/><Default Extension=".txt" ContentType="text/plain"/>
  <Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="hlokit" Version="{version}" Publisher="hlokit"/>
    <DisplayName>HLO</DisplayName>
    <Description>XLA's HLO: errors as you type, definitions, hovers, passes, the explorer</Description>
    <Categories>Programming Languages</Categories>
    <License>extension/LICENSE.txt</License>
    <Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value="^1.75.0"/></Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    version = re.search(r"project\(hlokit VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    editors = ROOT / "editors"
    files = {"[Content_Types].xml": TYPES, "extension.vsixmanifest": MANIFEST.format(version=version),
             "extension/README.md": (editors / "README.md").read_text(encoding="utf-8"),
             "extension/LICENSE.txt": (ROOT / "LICENSE").read_text(encoding="utf-8")}
    for name in FILES:
        text = (editors / "vscode" / name).read_text(encoding="utf-8")
        files[f"extension/{name}"] = re.sub(r'("version": )"[\d.]+"', rf'\1"{version}"', text) if name == "package.json" else text
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800))[:6]
    target = out / f"hlokit-{version}.vsix"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    print(target)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
