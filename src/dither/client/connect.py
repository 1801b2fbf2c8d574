"""`dither.connect`: ask data that stays where it is, through a gateway."""

from __future__ import annotations

import math
import ssl
from pathlib import Path

from dither.arguments import argument_errors
from dither.client.address import read_address
from dither.client.gateway import RemoteGateway, open_gateway
from dither.client.session import Session
from dither.client.token import read_token
from dither.errors import DataError, NumberError
from dither.numeric.number import RealLike

TIMEOUT = 30  # seconds


@argument_errors
def connect(
    url: str,
    token: str | None = None,
    *,
    timeout: RealLike = TIMEOUT,
    certificates: str | Path | None = None,
    cleartext: bool = False,
) -> RemoteGateway:
    """The gateway at an address: `quote`, `release`, `explain` and answers as in one process; the rows stay there.

    Args:
        url: its address, such as 'https://gateway.example'; http:// on this machine alone.
        token: who asks, as `dither token create` printed it; left out, that of the variable DITHER_TOKEN. It is sent to
            this address alone, and is in no message, repr or pickle.
        timeout: seconds for each reply, with requests that are sent again.
        certificates: a file of certificates to trust, for a gateway whose authority this machine does not know.
        cleartext: whether http:// to another machine is wanted, where another layer encrypts.

    Raises:
        ArgumentError: there is no token.
        DataError: the address or the token is none, or would send the token in the clear.
        GatewayError: nobody is there, its certificate is not trusted, or it does not take the token.

    Example:
        >>> import dither
        >>> try:
        ...     dither.connect("http://gateway.example", token="dth_secret")
        ... except dither.errors.DataError as error:
        ...     print(error.why)
        http would send the token in the clear to another machine
    """
    address = read_address(url, cleartext=cleartext)
    try:
        seconds = float(timeout)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds < 10**7 or isinstance(timeout, bool):
        raise NumberError("timeout", timeout, "it is no number of seconds above 0", f"timeout={TIMEOUT}")
    tls = _tls(certificates) if address.scheme == "https" else None
    return open_gateway(Session(address, read_token(token), seconds, tls))


def _tls(certificates: str | Path | None) -> ssl.SSLContext:
    """Certificates and names are checked."""
    try:
        return ssl.create_default_context(cafile=None if certificates is None else Path(certificates))
    except (OSError, TypeError, ValueError):  # one that is no file, or has no certificate in it
        why = "there are no certificates in it"
        raise DataError("certificates", certificates, why, "a file of certificates in PEM form") from None
