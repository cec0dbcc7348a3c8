"""Secrets that are known by what stands before them: a name, a header, a URL.

Every expression takes time linear in the text: what may fail late is bounded or possessive.
Folded expressions see the text in lower case. Where a secret is known by what follows it, a coarse
cut may follow instead.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from failhook.redact.pattern import Shape

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
      | (?: {"|".join(_KEY_OWNERS)} ) [_.-]? key | {_owned("token", _TOKEN_OWNERS)}
    )
"""
"""Names after which a secret follows, whatever stands between the two."""

_WEAK: Final = r"(?: pass (?<![a-z]pass) | token | credentials? | jwt | auth (?<![a-z]auth) )"
"""Names that prose, too, has before a colon."""

_WEAK_SIGNS: Final = ("pass", "token", "credential", "credentials", "jwt", "auth")
_SIGNS: Final = (
    *("password", "passwd", "passphrase", "pwd", "secret", *_WEAK_SIGNS),
    *("".join(parts) for parts in product(_KEY_OWNERS, ("", "_", ".", "-"), ("key",))),
    *("".join(parts) for parts in product(("secret",), ("", "_", ".", "-"), ("id", "string"))),
    *("".join(parts) for parts in product(("secret",), ("", "_", ".", "-"), ("value",))),
)

_QUOTE: Final = r"""(?: \\{0,3} ["'] )"""
_ENDS: Final = r"""(?= [.,;:)\]}]{0,2} (?: \s | \Z | ["'&<>] ) )"""

_CUT: Final = r"(?= \[\.\.\.\ \d{1,15}\ characters\ cut )"

_NUMBER: Final = r"(?: [_-]? \d{1,3} )?"
_SPACE: Final = r"[\ \t]{0,16}"

_GATE: Final = rf"""
    (?= [\d\\"'\]\ \t=:>] | [_-]\d )
    {_NUMBER} {_QUOTE}? \]? {_SPACE} [=:] | ["'] {_SPACE} , | >
"""

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


def _named(
    name: str, regex: str, behind: str = "", follow: str = "", signs: tuple[str, ...] = _SIGNS
) -> Shape:
    return Shape(
        name=name,
        signs=signs,
        regex=regex,
        gate=_GATE,
        follow=follow,
        folded=True,
        behind=behind,
    )


def _folded(name: str, regex: str, gate: str, *signs: str, behind: str = "") -> Shape:
    return Shape(name=name, signs=signs, regex=regex, gate=gate, folded=True, behind=behind)


def _cased(name: str, regex: str, gate: str, *signs: str) -> Shape:
    return Shape(name=name, signs=signs, regex=regex, gate=gate)


_AFTER: Final = r"""[\\"')\]]{0,4} [\ \t]{0,4}"""
_USERINFO: Final = r"""[^\s/?\#@"'<>\\\[]{0,2048}+ [@\[]"""
_USERINFO_SLASH: Final = r"""
    [^\s/?\#@:"'<>\\]{0,256}+ : (?!\d{1,5}[/?\#]) [^\s:@"'<>\\\[]{0,128}+ [@\[]
"""
_OPTION: Final = r"""[\w.:-]{0,40}? (?: pass|pwd|secret|token|key|credential|jwt|auth )"""

NAMED: Final = (
    _cased(
        "URL userinfo",
        rf"""://(?!git@) (?<!abfs://) (?<!abfss://) (?<!wasb://) (?<!wasbs://)
            ( [^\s/?\#"'<>\\]{{1,2048}} ) (?: @ (?!sha256:) | {_CUT} )""",
        _USERINFO,
        "://",
    ),
    _cased(
        "URL userinfo with a slash in it",
        rf"""://( [^\s/?\#@:"'<>\\]{{0,256}} : (?!\d{{1,5}}[/?\#]) [^\s:@"'<>\\]{{1,128}} )
            (?: @ | {_CUT} )""",
        _USERINFO_SLASH,
        "://",
    ),
    _folded(
        "Oracle user and password", r"""thin:[^\s/@"']{1,128}/([^\s@"']{1,128})@""", "", "thin:"
    ),
    _folded(
        "query token",
        r"""\w{3,9} = ( [^&\s"'<>\#]++ )""",
        "=",
        *("assertion", "key", "keyid", "sig", "signature"),
        behind=r"[?&] [\w.~%-]{0,40}",
    ),
    _folded(
        "Authorization header",
        rf"""authorization [\\"')\]]{{0,4}} \s{{0,4}} (?: [:=] | , (?=\s?b?["']) ) \s{{0,4}}
            b?{_QUOTE}? {_NO_PROSE} (?!\()
            (?: (?: digest|hmac|signature|aws4-hmac-sha256 ) \s{{1,4}} ( [^\r\n]++ )
              | (?: [a-z][a-z-]{{2,20}} \s{{1,4}} )? ( [^\s"',;]++ ) )""",
        rf"{_AFTER} [:=,]",
        "authorization",
    ),
    _folded(
        "bearer token",
        r"bearer\s{1,4} (?=[a-z._~+/=-]{0,200}\d) ( [a-z0-9._~+/=-]{8,}+ )",
        r"\s | \Z",
        "bearer",
    ),
    _folded(
        "cookie",
        rf"""cookie [\\"')\]]{{0,4}} \s{{0,4}} [:=] \s{{0,4}} b?{_QUOTE}?
            ( [\w.-]{{1,60}}=[^\r\n"']*+ )""",
        rf"{_AFTER} [:=]",
        "cookie",
    ),
    _named(
        "named secret",
        rf"""(?: {_STRONG} {_NUMBER} {_QUOTE}? \]? {_SPACE} (?: => | :=? | ==? ) {_SPACE}
               | {_WEAK} {_NUMBER} (?: {_QUOTE} \]? {_SPACE} (?: => | :=? | ==? )
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
        follow=":",
        signs=_WEAK_SIGNS,
    ),
    _named(
        "named secret in a pair or a tag",
        rf"""(?: {_STRONG} | {_WEAK} )
            (?: ["'] \s{{0,2}} , \s{{0,2}} {_QUOTED}
              | > ( [^<>\s]++ ) (?= < | \ \d{{1,15}}\ characters\ cut ) )""",
        behind=r"""(?: \( \s? b?["'] | ["']--? | < ) [\w.:-]{0,40}""",
        follow="\"'>",
    ),
    _folded(
        "named secret in an option",
        rf"""--(?<![\w-]--) [\w.:-]{{0,40}}? (?: {_STRONG} | {_WEAK} ) [\ \t]{{1,4}}
            (?: {_QUOTED} | (?!-) {_NO_PROSE} {_BARE} )""",
        rf"(?<![\w-]--) {_OPTION}",
        "--",
    ),
    _folded(
        "user option",
        r"""-(?<![\w-]-) (?: u | -user ) ["']? [\s,=]{1,3} ["']?
            (?! \d{1,9}:\d{1,9} (?![^\s"']) ) [^\s"':]{1,100} : (?!/) ( [^\s"']++ )""",
        r"""["']? [\ \t,=]{1,3} ["']? [^\s"':]{1,100} :""",
        *("-u", "--user"),
    ),
    _folded(
        "sshpass", r"""sshpass\s{1,3}-p\s{0,3} ["']? ( [^\s"']++ )""", r"[\ \t]{1,3}-p", "sshpass"
    ),
    _cased(
        "MySQL password",
        r"""mysql\w{0,10} ["']? [\s,] [^\n;|&]{0,200}? ["'\s] -p (?! ["'\s=] ) ( [^\s"',]++ )""",
        r"""\w{0,10} ["']? [\ \t,]""",
        "mysql",
    ),
    _folded(
        "auth pair",
        r"""auth(?<![a-z]auth) ["']? \s{0,4} [=:] \s{0,4} \( ( \s?["'] [^()\n]{1,200} ) \)""",
        _GATE,
        "auth",
    ),
)
