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
    (?> passw(?:or)?[dt] | passphrase | pwd (?! ["'\s]{{0,3}} [=:] ["'\s]{{0,3}} [/~] )
      | secret (?: [_.-]? (?:key|id|string|value) )?
      | (?: {"|".join(_KEY_OWNERS)} ) [_.-]? key | {_owned("token", _TOKEN_OWNERS)}
    )
"""
"""Names after which a secret follows, whatever stands between the two."""

_WEAK: Final = r"(?> pass (?<![a-z]pass) | token | credentials? | jwt | auth (?<![a-z]auth) )"
"""Names that prose, too, has before a colon."""

_WEAK_SIGNS: Final = ("pass", "token", "credential", "credentials", "jwt", "auth")
_SIGNS: Final = (
    *("password", "passwort", "passwd", "passphrase", "pwd", "secret", *_WEAK_SIGNS),
    *("".join(parts) for parts in product(_KEY_OWNERS, ("", "_", ".", "-"), ("key",))),
    *("".join(parts) for parts in product(("secret",), ("", "_", ".", "-"), ("id", "string"))),
    *("".join(parts) for parts in product(("secret",), ("", "_", ".", "-"), ("value",))),
)

_QUOTE: Final = (
    r"""(?: \\{0,3}+ ["'] | %2[27] | &(?:quot|apos|\#3[49]|\#x2[27]); | \\{1,3}+u002[27] )"""
)
_ENDS: Final = r"""(?= [.,;:)\]}]{0,2} (?: \s | \Z | ["'&<>] ) )"""

_CUT: Final = r"(?= \[\.\.\.\ \d{1,15}\ characters\ cut )"
_END: Final = r"(?= \s{0,4} \Z )"
"""The end of a text: who kept it may have cut it."""

_NUMBER: Final = r"(?: [_-]? \d{1,3} )?+"
_SPACE: Final = r"[\ \t]{0,16}+"

_GATE: Final = rf"""
    {_NUMBER} (?: [\\"'\]\ \t=:>%&] | </ | [\r\n] | \Z )
"""

_IS: Final = r"""(?> => | :=? | ==? | %3[ad] | &\#(?:61|58|x3[ad]); | \\{1,3}+u003[ad] )"""
"""What stands between a name and its value, as it is or as URLs, HTML and JSON write it."""

_QUOTED: Final = r"""
    (?: (?: (?: secret(?:str|bytes)? | some | just | optional ) \( )?+ [bfru$]{0,2}+
      (?: ""(?=") | ''(?=') )?+
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
    (?! (?: [a-z_]\w{{0,60}}+ \. ){{0,6}}+ [a-z_]\w{{0,60}}+ [(\[]        # a call, in source text
        (?: \s | \Z | [)\]"'] | [a-z_]\w{{0,60}} [\s,.=()\[\]] | \d{{1,9}}[,)\]] ) )
    (?! (?: {"|".join(_HOLDERS.split())} ) \. \w{{1,60}} {_ENDS} )           # or an attribute
    (   (?: [^\s"'&<>,;)\]}}]++
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
        reads=40,
    )


def _folded(
    name: str, regex: str, gate: str, *signs: str, behind: str = "", reads: int = 0
) -> Shape:
    return Shape(
        name=name,
        signs=signs,
        regex=regex,
        gate=gate,
        folded=True,
        behind=behind,
        reads=reads,
    )


def _cased(name: str, regex: str, gate: str, *signs: str, reads: int = 0) -> Shape:
    return Shape(name=name, signs=signs, regex=regex, gate=gate, reads=reads)


_AFTER: Final = r"""[\\"')\]]{0,4} [\ \t]{0,4}"""
_USERINFO: Final = r"""[^\s/?\#@:"'<>\\\[]{0,2048}+ [@\[:\\]"""
_ARGUMENTS: Final = r"""["']?+ [\s,] (?: [^\n;|&]{0,200}? ["'\s] )?"""
_THEN: Final = r"""["']?+ [\s,=]{1,3}+ ["']?+"""
_VALUE: Final = rf"(?: {_QUOTED} | {_NO_PROSE} {_BARE} )"

NAMED: Final = (
    _cased(
        "URL userinfo",
        rf"""://(?!git@) (?<!abfs://) (?<!abfss://) (?<!wasb://) (?<!wasbs://)
            ( [^\s/?\#"'<>\\]{{1,2048}} ) (?: @ (?!sha256:) | \\{{1,3}}u0040 | {_CUT} )""",
        _USERINFO,
        "://",
        reads=128,
    ),
    _cased(
        "URL userinfo with a slash in it",
        rf"""://( [^\s/?\#@:"'<>\\]{{0,256}} : (?!\d{{1,5}}[/?\#]) [^\s:@"'<>\\]{{1,128}} )
            (?: @ | {_CUT} )""",
        _USERINFO,
        "://",
        reads=128,
    ),
    _cased(
        "URL userinfo at the end of a text",
        rf"""://( [^\s/?\#@:"'<>\\]{{0,256}}+ : (?!\d{{1,5}}(?!\w)) [^\s:@"'<>\\]{{1,128}}+ )
            {_END}""",
        _USERINFO,
        "://",
        reads=128,
    ),
    _folded(
        "URL userinfo in JSON",
        r""":\\{1,3}+/\\{1,3}+/ ( [^\s/?\#"'<>\\@]{1,2048}+ ) (?: @ | \\{1,3}u0040 )""",
        "",
        *(":\\/\\/", r":\\/\\/"),
        reads=100,
    ),
    _folded(
        "URL userinfo, encoded",
        r"""%3a%2f%2f ( (?: [^\s%/?\#"'<>&]{1,128}+ | %(?!40|2f|3f|23) ){1,64}+ ) %40""",
        r"(?: [^\s%/?\#\"'<>&]{0,512}+ % ){1,2}",
        "%3a%2f%2f",
        reads=200,
    ),
    _folded(
        "user and password before a host",
        r"@(?!sha\d) () [\w.-]{1,80} : \d{2,5} (?! \d )",
        r"[\w.-]{1,80} : \d",
        "@",
        behind=r"""(?: \A | [\s"'=(,\[] ) [a-z][\w.-]{0,24} : (?!\d{1,9}@) ( [^\s"'/:@]{3,40} )""",
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
        rf"""authorization [\\"')\]]{{0,4}}+ \s{{0,4}}+ (?: [:=] | , (?=\s?b?["']) ) \s{{0,4}}+
            b?+{_QUOTE}?+ {_NO_PROSE} (?!\()
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
    _cased(
        "basic credentials",
        r"""[Bb]asic\ {1,4}+ (?= [A-Za-z+/]{0,80} [\d=] ) (?= [a-z\d+/]{0,80} [A-Z] )
            ( [A-Za-z\d+/]{12,}+ ={0,2}+ ) (?![\w.-])""",
        r"\ {1,4}+ [a-z\d+/]{12}",
        "basic",
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
        rf"""(?: {_STRONG} {_NUMBER} {_QUOTE}?+ \]?+ {_SPACE} {_IS} {_SPACE} (?: %20 ){{0,2}}+
               | {_WEAK} {_NUMBER} (?: {_QUOTE} \]?+ {_SPACE} {_IS}
                                     | {_SPACE} (?: => | :?=(?!=) | %3d | &\#(?:61|x3d);
                                       | \\{{1,3}}+u003d ) ) {_SPACE} (?: %20 ){{0,2}}+ )
             (?: ["'] \s{{0,2}} , \s{{0,2}} {_QUOTED}
               | <(?= [^\s<>]{{0,60}} \d ) ( [^\s<>]++ ) >
               | (?! [|-] [+-]?+ [\s\\] | \\{{1,4}}+n ) (?: (?! \\ | ["'] ) {_QUOTE} )?+ {_VALUE} )
           | {_STRONG} : {_SPACE} (?: [|>][+-]?+ | (?= [\s|]{{0,40}}+ -\  | \\{{1,4}}+n ) )
             (?: [\s|] | \\{{1,4}}+n ){{0,44}}+ (?: -\  )?+
             {_NO_PROSE} ( [^\s"':\\]++ ) (?= [\s\\] | \Z )
           | {_WEAK} : {_SPACE}
             (?: (?={_QUOTE}[^\s"']{{8}}) {_QUOTED}
               | (?=[a-z._~+/=-]{{0,40}}\d) ( [a-z0-9._~+/=-]{{12,}}+ ) )
           | (?: (?<!unexpected\ )(?<!illegal\ )token | credentials? | jwt )
             : {_SPACE} {_QUOTE}?+ {_MIXED}""",
    ),
    _named(
        "named secret in a sentence",
        rf"""(?: passw(?:or)?[dt] | passphrase ) [\ \t]{{1,4}}+
            (?: (?: is | was | -> | \| | for\ [^\s:]{{1,60}}+ : ) [\ \t]{{1,4}}+ )?+
            (?: ["']?+ {_MIXED} | ["'] ( [^\s"']{{4,}}+ ) ["'] )
          | (?: {_STRONG} | {_WEAK} ) [\ \t]{{1,4}}+ (?: is | was | -> ) [\ \t]{{1,4}}+
            ["']?+ {_MIXED}""",
        follow=" \t",
    ),
    _named(
        "named secret in a name and a value",
        rf"""(?: {_STRONG} | {_WEAK} ) {_NUMBER}
            (?: </name> (?: [\s|] | \\{{1,4}}+n ){{0,40}}+ <value> ( [^<>]++ )
              | {_QUOTE}?+ \s{{0,4}}+ ,?+ (?: [\s|] | \\{{1,4}}+n ){{0,40}}+
                {_QUOTE}?+ value {_QUOTE}?+
                \s{{0,4}}+ [=:] \s{{0,4}}+ (?: (?! \\ | ["'] ) {_QUOTE} )?+ {_VALUE} )""",
        follow="\"'\\ \t\r\n,<&%_-0123456789",
        behind=r"""(?: \b (?: name|key|variable ) [\\"']{0,4}+ \s{0,2}+ [=:] \s{0,2}+ [\\"']{0,4}+
            | <name> ) [\w.-]{0,24}""",
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
    _named(
        "named secret in an option",
        rf"""(?: {_STRONG} | {_WEAK} ) [\ \t]{{1,4}}+
            (?: {_QUOTED} | (?!-) {_NO_PROSE} {_BARE} )""",
        behind=r"--(?<![\w-]--) [\w.:-]{0,40}",
        follow=" \t",
    ),
    _folded(
        "user option",
        r"""-(?<![\w-]-) (?: u | -user ) ["']? [\s,=]{1,3} ["']?
            (?! \d{1,9}:\d{1,9} (?![^\s"']) ) [^\s"':]{1,100} : (?!/) ( [^\s"']++ )""",
        r"""["']? [\ \t,=]""",
        *("-u", "--user"),
        reads=100,
    ),
    _folded(
        "sshpass", r"""sshpass\s{1,3}-p\s{0,3} ["']? ( [^\s"']++ )""", r"[\ \t]{1,3}-p", "sshpass"
    ),
    _cased(
        "MySQL password",
        r"""mysql\w{0,10} ["']? [\s,] [^\n;|&]{0,200}? ["'\s] -p (?! ["'\s=] ) ( [^\s"',]++ )""",
        r"""\w{0,10}+ ["']?+ [\ \t,]""",
        "mysql",
        reads=400,
    ),
    _cased(
        "password of a tool",
        rf"""(?: redis-cli {_ARGUMENTS} (?: -a | --pass ) {_THEN} | sqlcmd {_ARGUMENTS} -P {_THEN}
              | ldapsearch {_ARGUMENTS} -w {_THEN} | beeline {_ARGUMENTS} -p {_THEN}
              | 7z[ar]?+ {_ARGUMENTS} -p ) ( [^\s"',=-] [^\s"',]*+ )""",
        r"""[ar]?+ ["']?+ [\ \t,]""",
        *("redis-cli", "sqlcmd", "7z", "ldapsearch", "beeline"),
        reads=400,
    ),
    _cased(
        "SQL*Plus password",
        r"""sqlplus ["']?+ [\s,] [^\n@/]{0,60}+ / ( [^\s@"'/]++ ) @""",
        r"""["']?+ [\ \t,]""",
        "sqlplus",
    ),
    _folded(
        "line of .pgpass", r""":5432:[\w*-]{1,60}+:[\w*-]{1,60}+:( [^\s:"'@/]++ )""", "", ":5432:"
    ),
    _folded(
        "line of .netrc",
        r"login \s{1,4}+ [^\s]{1,80}+ \s{1,4}+ password \s{1,4}+ ( [^\s]++ )",
        r"\s",
        "login",
    ),
    _folded(
        "password of OpenSSL",
        r"""pass: ( [^\s"',]++ )""",
        ":",
        "pass",
        behind=r"""-pass[a-z]{0,4} ["',\s=]{1,4}""",
    ),
    _folded(
        "key of an Azure account",
        r"""account\.key\.[\w.-]{1,100}+ ["']?+ \s{0,3}+ [=:,\s] \s{0,3}+ ["']?+ ( [^\s"',;]++ )""",
        r"\w",
        "account.key.",
    ),
    _folded(
        "Telegram token", r":aa [\w-]{32,34} (?![\w-])", r"[\w-]{32}", ":aa", behind=r"( \d{8,12} )"
    ),
    _folded(
        "auth pair",
        r"""auth(?<![a-z]auth) ["']? \s{0,4} [=:] \s{0,4} \( ( \s?["'] [^()\n]{1,200} ) \)""",
        _GATE,
        "auth",
    ),
)
