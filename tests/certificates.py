"""Certificates for tests, made by OpenSSL as an administrator would."""

from __future__ import annotations

import subprocess
from pathlib import Path

__all__ = ["make_authority", "make_pair", "openssl"]

_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1"


def openssl(folder: Path, command: str) -> None:
    """Run a command of openssl in a folder."""
    subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)


def make_authority(folder: Path) -> None:
    """Make a certificate authority: ca.pem, ca.key."""
    openssl(folder, f"req -x509 {_KEY} -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca")


def make_pair(folder: Path, name: str, password: str | None = None) -> None:
    """Make a server's key and the certificate that the authority signs: NAME.pem, NAME.key.

    It is one for this machine, by address and name. With a password, the key is encrypted.
    """
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    locked = "-nodes" if password is None else f"-passout pass:{password}"
    openssl(folder, f"req {_KEY} {locked} -keyout {name}.key -out {name}.csr -subj /CN={name}")
    openssl(
        folder,
        f"x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem "
        "-days 2 -extfile names",
    )
