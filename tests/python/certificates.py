"""Certificates for tests, made by the openssl command line."""

from __future__ import annotations

import pathlib
import subprocess


def _openssl(*words: str | pathlib.Path) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=30)


class Authority:
    """A certificate authority in a folder of its own."""

    def __init__(self, folder: pathlib.Path, name: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.certificate = folder / "ca.pem"
        self._key = folder / "ca.key"
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", f"/CN={name}", "-keyout", self._key, "-out", self.certificate)

    def issue(self, name: str, *, alternative: str = "", days: int = 2, file: str = "") -> tuple[pathlib.Path, pathlib.Path]:
        """A signed certificate and its key; negative days: it has expired. An empty name: a subject without a common name."""
        stem = self.folder / (file or name)
        certificate, key, request = stem.with_suffix(".pem"), stem.with_suffix(".key"), stem.with_suffix(".csr")
        subject = f"/CN={name}" if name else "/O=nobody"
        _openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject, "-keyout", key,
                 "-out", request)
        extensions = stem.with_suffix(".ext")
        extensions.write_text(f"subjectAltName={alternative}\n" if alternative else "")
        _openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial", "-days",
                 str(days), "-extfile", extensions, "-out", certificate)
        return certificate, key
