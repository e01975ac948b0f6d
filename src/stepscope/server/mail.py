"""Mail by SMTP: `smtp://ada@mail.example.org:587?from=stepscope@example.org`, with TLS wherever the server offers it.

Like a webhook's, the address is given by whoever started the server; nothing in a run or comment can change it.
"""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate, make_msgid, parseaddr
from urllib.parse import parse_qs, unquote, urlsplit

from stepscope.errors import ConfigError
from stepscope.plain_text import clean
from stepscope.server.settings import is_loopback

TIMEOUT_S = 20.0
_PORTS = {"smtp": 587, "smtps": 465}


class Mail:
    """Sends one message per connection: mentions are few."""

    def __init__(self, url: str, password: str | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ConfigError(
                f"{(parts.scheme or url[:80])!r} is not a mail server; use smtp://HOST:PORT?from=ADDRESS, or smtps://..."
            )
        if parts.password:
            raise ConfigError("others can see a password in the mail server's address; use $STEPSCOPE_SMTP_PASSWORD")
        sender = parse_qs(parts.query).get("from", [""])[-1]
        if "@" not in parseaddr(sender)[1]:
            raise ConfigError("the mail server's address needs ?from=ADDRESS, the sender that people see")
        self.host, self._secure, self._sender = parts.hostname, parts.scheme == "smtps", sender
        self._port = parts.port or _PORTS[parts.scheme]
        self._user, self._password = unquote(parts.username or ""), password or ""
        if self._user and not self._password:
            raise ConfigError(f"the mail server's user {self._user!r} needs a password; set $STEPSCOPE_SMTP_PASSWORD")

    @property
    def name(self) -> str:
        return f"mail ({self.host})"

    def send(self, to: str, subject: str, text: str) -> str | None:
        """Hand a message over; why it was not taken, or None."""
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = self._sender, to, clean(subject)[:200]
        message["Date"], message["Message-ID"] = formatdate(localtime=False), make_msgid(domain=self.host)
        message["Auto-Submitted"] = "auto-generated"  # nobody's "I am away" answers it
        message.set_content(clean(text, keep_newlines=True))
        try:
            with self._connected() as connection:
                connection.send_message(message)
        except smtplib.SMTPResponseException as fault:
            return f"{self.host} answered with {fault.smtp_code}"
        except smtplib.SMTPRecipientsRefused:
            return f"{self.host} does not take mail for this recipient"
        except (OSError, smtplib.SMTPException) as fault:
            return f"{self.host} cannot be reached: {type(fault).__name__}"
        return None

    def _connected(self) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if self._secure:
            connection: smtplib.SMTP = smtplib.SMTP_SSL(self.host, self._port, timeout=TIMEOUT_S, context=context)
        else:
            connection = smtplib.SMTP(self.host, self._port, timeout=TIMEOUT_S)
            connection.ehlo()
            if connection.has_extn("starttls"):
                connection.starttls(context=context)
                connection.ehlo()
            elif self._user and not is_loopback(self.host):
                connection.close()
                raise smtplib.SMTPException("a password is not sent without TLS")
        if self._user:
            connection.login(self._user, self._password)
        return connection
