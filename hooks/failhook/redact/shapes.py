"""The secrets that are looked for unless told otherwise.

Sources of the vendors' shapes: their own documents, and the rules of detect-secrets and gitleaks.
Every expression takes time linear in the text: what may fail late is bounded or possessive.
Folded expressions see the text in lower case. Where a secret is known by what follows it, a coarse
cut may follow instead.
"""

from __future__ import annotations

import re
from typing import Final

from failhook.redact.pattern import Pattern

_KEY_OWNERS: Final = (
    *("access", "account", "api", "auth", "client", "encryption", "master", "private", "secret"),
    *("service", "session", "signing", "storage", "subscription"),
)
_TOKEN_OWNERS: Final = (
    *("access", "api", "app", "auth", "bearer", "bot", "client", "csrf", "deploy", "id", "push"),
    *("refresh", "secret", "security", "session", "user", "vault", "xsrf"),
)


def _owned(noun: str, owners: tuple[str, ...]) -> str:
    """Match a noun that stands behind one of its owners: ``api_key``, ``apiKey``, ``api-key``."""
    behind = "|".join(rf"(?<={owner}{noun})|(?<={owner}[_.-]{noun})" for owner in owners)
    return f"{noun} (?:{behind})"


_STRONG: Final = rf"""
    (?: passw(?:or)?d | passphrase | pwd (?! ["'\s]{{0,3}} [=:] ["'\s]{{0,3}} [/~] )
      | secret (?: [_.-]? (?:key|id|string|value) )?
      | {_owned("key", _KEY_OWNERS)} | {_owned("token", _TOKEN_OWNERS)}
    )
"""
"""Names after which a secret follows, whatever stands between the two."""

_WEAK: Final = r"(?: pass (?<![a-z]pass) | token | credentials? | jwt | auth (?<![a-z]auth) )"
"""Names that prose, too, has before a colon."""

_QUOTE: Final = r"""(?: \\{0,3} ["'] )"""
_ENDS: Final = r"""(?= [.,;:)\]}]{0,2} (?: \s | \Z | ["'&<>] ) )"""

_CUT: Final = r"(?= \[\.\.\.\ \d{1,15}\ characters\ cut )"

_SPACE: Final = r"[\ \t]{0,4}"

_QUOTED: Final = r"""
    (?: [bfru]{0,2}
      (?: " ( (?: [^"\\\n] | \\. )++ )
        | ' ( (?: [^'\\\n] | \\. )++ )
        | \\{1,3}["'] ( [^"'\\\n]++ ) )
    )
"""

_HOLDERS: Final = """
    app args cfg client cls conf config conn connection context creds credentials ctx env hook
    kwargs options opts params request secrets self session settings user
"""
"""What source text reads secrets from: ``self.password`` gives none away."""

_BARE: Final = rf"""
    (?! (?: none|null|nil|true|false|yes|no|undefined|passw(?:or)?d|token ) {_ENDS} | [\[({{] )
    (?! (?: [a-z_]\w{{0,60}} \. ){{0,6}} [a-z_]\w{{0,60}} [(\[]           # a call, in source text
        (?: \s | \Z | [)\]"'] | [a-z_]\w{{0,60}} [\s,.=()\[\]] | \d{{1,9}}[,)\]] ) )
    (?! (?: {"|".join(_HOLDERS.split())} ) \. \w{{1,60}} {_ENDS} )           # or an attribute
    (   (?: [^\s"'&<>,;)\]}}]
          | [,;)\]}}] (?! \s | \Z | ["'&<>,;)\]}}] | \w [\w.\x20-]{{0,40}} [=:] )
        )++ )
"""
"""A value without quotes; a comma or a bracket belongs to it unless something else begins there."""

_PROSE: Final = """
    a an and are at authentication bool but bytes can cannot contain contains could did does
    error expected expired failed failure field for format has have in incorrect invalid is it
    length may mismatch missing must need needs not of on only or permission provided required
    shall should str the this to too unexpected unknown value was were will with wrong you your
"""
_NO_PROSE: Final = rf"(?! (?: {'|'.join(_PROSE.split())} ) {_ENDS} )"
"""What follows a name and a colon where no secret does."""


_MIXED: Final = rf"""
    (?= [a-z._~+/=@!$%^*-]{{0,40}} \d ) (?= [\d._~+/=@!$%^*-]{{0,40}} [a-z] )
    (?! (?: base|bytes|float|kerberos|oauth|sha|u?int|utf-? ) \d
      | [\d.,]{{1,12}} [a-z]{{1,3}} {_ENDS} )
    ( [a-z0-9._~+/=@!$%^*-]{{6,}}+ )
"""
"""Letters and digits, as prose has them seldom: no type, protocol, number with its unit."""


def _named(name: str, regex: str, behind: str = "") -> Pattern:
    return Pattern(
        name,
        re.compile(regex, re.VERBOSE),
        ("pass", "pwd", "secret", "token", "key", "credential", "jwt", "auth"),
        folded=True,
        at_signs=True,
        behind=re.compile(rf"(?: {behind} ) \Z", re.VERBOSE) if behind else None,
    )


def _folded(name: str, regex: str, *signs: str) -> Pattern:
    return Pattern(name, re.compile(regex, re.VERBOSE), signs, folded=True)


def _shape(name: str, regex: str, *signs: str) -> Pattern:
    return Pattern(name, re.compile(regex, re.VERBOSE), signs)


_PEM_BODY: Final = r"""
    (?: (?: \s | \\{1,3}[nr] )*+
        (?: [A-Za-z0-9+/=]{20,}+ | [A-Z][A-Za-z-]{2,20}: [^\r\n\\]{0,200}+ ) )*+
    (?: (?: (?: \s | \\{1,3}[nr] )*+ [A-Za-z0-9+/=]{1,19}+ ){0,3} (?: \s | \\{1,3}[nr] )*+
        -----END\ [A-Z0-9\ ]{0,40} )?
"""

DEFAULT: Final = (
    _shape(
        "URL userinfo",
        rf"""://(?!git@) (?<!abfs://) (?<!abfss://) (?<!wasb://) (?<!wasbs://)
            ( [^\s/?\#"'<>\\]{{1,2048}} ) (?: @ (?!sha256:) | {_CUT} )""",
        "://",
    ),
    _shape(
        "URL userinfo with a slash in it",
        rf"""://( [^\s/?\#@:"'<>\\]{{0,256}} : (?!\d{{1,5}}[/?\#]) [^\s:@"'<>\\]{{1,128}} )
            (?: @ | {_CUT} )""",
        "://",
    ),
    _folded("Oracle user and password", r"""thin:[^\s/@"']{1,128}/([^\s@"']{1,128})@""", "thin:"),
    _folded(
        "query token",
        r"""[?&] [\w.~%-]{0,40}?
            (?: token|sig|signature|key|keyid|secret|credential|passw(?:or)?d|pwd|auth|jwt
              | assertion ) = ( [^&\s"'<>\#]++ )""",
        *("?", "&"),
    ),
    _folded(
        "Authorization header",
        rf"""authorization [\\"')\]]{{0,4}} \s{{0,4}} (?: [:=] | , (?=\s?b?["']) ) \s{{0,4}}
            b?{_QUOTE}? {_NO_PROSE} (?!\()
            (?: (?: digest|hmac|signature|aws4-hmac-sha256 ) \s+ ( [^\r\n]++ )
              | (?: [a-z][a-z-]{{2,20}} \s{{1,4}} )? ( [^\s"',;]++ ) )""",
        "auth",
    ),
    _folded(
        "bearer token",
        r"bearer\s{1,4} (?=[a-z._~+/=-]{0,200}\d) ( [a-z0-9._~+/=-]{8,}+ )",
        "bearer",
    ),
    _folded(
        "cookie",
        rf"""cookie [\\"')\]]{{0,4}} \s{{0,4}} [:=] \s{{0,4}} b?{_QUOTE}?
            ( [\w.-]{{1,60}}=[^\r\n"']*+ )""",
        "cookie",
    ),
    _named(
        "named secret",
        rf"""(?: {_STRONG} \d{{0,3}} {_QUOTE}? \]? {_SPACE} (?: => | :=? | ==? ) {_SPACE}
               | {_WEAK} \d{{0,3}} (?: {_QUOTE} \]? {_SPACE} (?: => | :=? | ==? )
                                     | {_SPACE} (?: => | :?=(?!=) ) ) {_SPACE} )
             (?: {_QUOTED} | {_NO_PROSE} {_BARE} )
           | {_WEAK} : {_SPACE}
             (?: (?={_QUOTE}[^\s"']{{8}}) {_QUOTED}
               | (?=[a-z._~+/=-]{{0,40}}\d) ( [a-z0-9._~+/=-]{{12,}}+ ) )
           | (?: (?<!unexpected\ )(?<!illegal\ )token | credentials? | jwt )
             : {_SPACE} {_QUOTE}? {_MIXED}""",
    ),
    _named(
        "named secret on a line of its own",
        rf"""{_WEAK} : {_SPACE} {_QUOTE}? (?!tests?[_./-]) {_MIXED} {_QUOTE}? {_SPACE}
            (?: \# | \r?\n | \Z )""",
        behind=r"(?: \A | \n ) [\ \t-]{0,16} [\w.-]{0,16}",
    ),
    _named(
        "named secret in a pair, a tag or an option",
        rf"""(?: {_STRONG} | {_WEAK} )
            (?: ["'] \s{{0,2}} , \s{{0,2}} {_QUOTED}
              | > ( [^<>\s]++ ) (?= < | \ \d{{1,15}}\ characters\ cut )
              | [\ \t]{{1,4}} (?: {_QUOTED} | (?!-) {_NO_PROSE} {_BARE} ) )""",
        behind=r"""(?: \( \s? b?["'] | ["']--? | < | (?<![\w-])-- ) [\w.:-]{0,40}""",
    ),
    _folded(
        "user option",
        r"""-(?<![\w-]-) (?: u | -user ) ["']? [\s,=]{1,3} ["']?
            (?! \d{1,9}:\d{1,9} (?![^\s"']) ) [^\s"':]{1,100} : (?!/) ( [^\s"']++ )""",
        "-u",
    ),
    _folded("sshpass", r"""sshpass\s{1,3}-p\s{0,3} ["']? ( [^\s"']++ )""", "sshpass"),
    _folded(
        "auth pair",
        r"""auth(?<![a-z]auth) ["']? \s{0,4} [=:] \s{0,4} \( ( \s?["'] [^()\n]{1,200} ) \)""",
        "auth",
    ),
    _shape(
        "private key",
        rf"-----BEGIN\ [A-Z0-9\ ]{{0,40}}PRIVATE\ KEY[A-Z\ ]{{0,8}}----- ( {_PEM_BODY} )",
        "private key",
    ),
    _shape(
        "rest of a private key",
        rf"characters\ cut\ \.\.\.\] ( [A-Za-z0-9+/=]{{0,80}}+ {_PEM_BODY} ) (?<=PRIVATE\ KEY)",
        "private key",
    ),
    _shape("JSON Web Token", r"eyJ[\w-]{8,}+ (?: \.[\w-]*+ ){0,4}", "eyj"),
    _shape(
        "AWS access key id",
        r"A(?<![A-Z0-9]A) (?: KIA|SIA|BIA|CCA ) [A-Z0-9]{16} (?![A-Z0-9])",
        *("akia", "asia", "abia", "acca"),
    ),
    _shape("Google API key", r"AIza[\w-]{30,}+", "aiza"),
    _shape("Google access token", r"ya29\.[\w.-]{20,}+", "ya29."),
    _shape("Google client secret", r"GOCSPX-[\w-]{20,}+", "gocspx-"),
    _shape("Azure client secret", r"8Q~[\w.~-]{30,}+", "8q~"),
    _shape(
        "GitHub token",
        r"g (?: h[opsur]_\w{20,}+ | ithub_pat_\w{20,}+ )",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
    ),
    _shape("GitLab token", r"glpat-[\w-]{20,}+", "glpat-"),
    _shape("Slack token", r"x (?: ox[a-z]-[\w-]{10,}+ | app-[\w-]{10,}+ )", "xox", "xapp-"),
    _shape(
        "webhook",
        r"""(?: hooks\.slack\.com/(?:services|workflows|triggers)/
              | discord(?:app)?\.com/api/webhooks/ | webhook\.office\.com/ ) ( [^\s"'<>]++ )""",
        *("hooks.slack.com", "/api/webhooks/", "webhook.office.com"),
    ),
    _shape("OpenAI or Anthropic key", r"sk-(?<!\wsk-)[\w-]{20,}+", "sk-"),
    _shape("Stripe key", r"k_(?<=[rs]k_)(?:live|test)_\w{10,}+", "k_live", "k_test"),
    _shape("signing secret", r"whsec_\w{20,}+", "whsec_"),
    _shape("npm token", r"npm_\w{30,}+", "npm_"),
    _shape("PyPI token", r"pypi-[\w-]{30,}+", "pypi-"),
    _shape("Hugging Face token", r"hf_\w{30,}+", "hf_"),
    _shape("Databricks token", r"dapi[0-9a-f]{32}", "dapi"),
    _shape("Vault token", r"hvs\.[\w-]{20,}+", "hvs."),
    _shape("DigitalOcean token", r"dop_v1_\w{40,}+", "dop_v1_"),
    _shape("SendGrid key", r"SG\.[\w-]{16,}+\.[\w-]{16,}+", "sg."),
)
