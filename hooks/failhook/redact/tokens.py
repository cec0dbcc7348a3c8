"""Secrets that are known by their own looks: keys and tokens of vendors, private keys.

The prefixes are facts that the vendors document so that leaked tokens can be found. That the table
is complete is tested against a catalogue that others keep up to date, see docs/redaction.md.
"""

from __future__ import annotations

import re
from typing import Final

from failhook.redact.pattern import Shape

_BODY: Final = r"(?: [\w+=~-]++ | [./] (?= [\w+=~-] ) )++"


def _prefixed(name: str, prefixes: str, start: str, gate: str = r"[\w+/=~.-]{8}") -> Shape:
    """Describe tokens that begin with one of some prefixes, and go on as `start` says."""
    words = prefixes.split()
    starts = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    return _token(name, rf"(?: {starts} ) (?= {start} ) {_BODY}", gate, *words)


def _token(name: str, regex: str, gate: str, *prefixes: str) -> Shape:
    signs = tuple(prefix.lower() for prefix in prefixes)
    return Shape(name=name, signs=signs, regex=regex, gate=gate, starts=True)


def _inside(name: str, regex: str, gate: str, sign: str, behind: str = "") -> Shape:
    """Describe what is known by a sign within it."""
    return Shape(name=name, signs=(sign,), regex=regex, gate=gate, behind=behind)


_RARE: Final = """
    AGE-SECRET-KEY-1 AIK_CI_ AIK_SECRET_ AQ.Ab8RN6 AstraCS: BBDC- CCDB1_ CCIPAT_ CCIPRJ_ CLOJARS_
    EAAA FLWPUBK_TEST-
    FLWSECK- FLWSECK_TEST- GOCSPX- GR1348941 HRKU- KGAT_ PMAK- PMAT- SWMKEY-1- SWMTKN-1- TSKEY-
    aio_ apify_api_ api_live. api_live_ca. api_live_us. bedrock-api-key- bkaa_ bkaj_ bkar_ bkct_
    bkpat_ bkps_ bkpt_ bkua_ cfat_ cfut_ ckey_ cnvca configcat-sdk-1/ csk- dckr_oat_ dckr_pat_ ddo_
    ddp_ doo_v1_ dop_v1_ dor_v1_ dp.ct. dp.pt. dp.scim. dp.st. dt0c01. dt0s01. duffel_live_
    duffel_test_ dvc_client_ dvc_mobile_ dvc_server_ essu_ eyJrIjoi figd_ figo_ fio-u- fo1_ ghu_
    gcntfy- gho_ ghp_ ghr_ ghs_ github_pat_ glagent- glcbt- gldt- glffct- glft- glimt- gloas- glpat-
    glptt- glrt- glrtr- glsa_ glsoat- gsk_ hvb. hvs. lin_api_ lin_oauth_ llx- lsv2_pt_ lsv2_sk_
    mdb_sa_sk_ mlsn. ntn_ nvapi- ops_eyJ os_v2_app_ os_v2_org_ p8e- packagist_ack_ packagist_acs_
    packagist_ort_ packagist_out_ pcsk_ pdl_live_apikey_ pdl_sdbx_apikey_ phc_ phx_ polar_at_
    polar_oat_ polar_pat_ pplx- pscale_oauth_ pscale_pw_ pscale_tkn_ pypi-AgE ramp_sec_ rdme_
    rubygems_ rzp_live_ rzp_test_ s-s4t2af- s-s4t2ud- sb_secret_ sbp_ sha256~ shpat_ shpca_ shppa_
    shpss_ shpua_ sk-admin- sk-ant- sk-api- sk-lf- sk-or- sk-proj- sk-svcacct- sm_aat_ sm_pat_
    sm_sat_ sntrys_ sntryu_ sq0atp- sq0csp- tgp_v1_ tk-us- tskey- ucat_ vtwn_ wandb_v1_ whsec_ wrka
    xai- xapp- xkeysib- xnd_development_ xnd_production_ xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xox
    xoxo- xoxp- xoxr- xoxs- xsmtpsib- zpka_ $aact_hmlg_ $aact_prod_ _gitlab_session=
"""
"""Prefixes that nothing else has: what follows need only be long enough."""

_SHARED: Final = """
    STS. apk_ apk_user_ glc_ lip_ mercury_production_ mergify_application_key_ persona_production_
    pina_ prf_ prf_cli_ sgp_ sk_car_ sqa_ sqp_ squ_ tfp_ tss_ unkey_ vca_ vci_ vck_ vcp_ vcr_
"""
"""Prefixes that names of things have, too, but with no long mixture of letters and digits."""

_WORDY: Final = """
    ABSK AKCp API- ATAT ATBB BSA EAAC EAAM EXO EZAK EZTK LTAI apikey_ cmVmd cog_
    csa_ fm1_ fm1a_ fm2_ ico- ion- ion_ key- napi_ npm_ nyk_ pnu_ pubkey- pul-
    r8_ rnd_ rootly_ rpa_ samsara_api_ shippo_live_ shippo_test_ waka_
"""
"""Prefixes that words have, too: only letters and digits may follow."""

_GAP: Final = r"(?: [\s|>] | \\{1,3}[nr] )*+"
STAMP: Final = r"(?: (?! ----- | [A-Za-z0-9+/=]{20} ) [\w.:,()\[\]/+-]{1,40}+ [\ \t|]{1,4} ){0,3}+"
"""What logs put before each line."""

_PEM_BODY: Final = rf"""
    (?: {_GAP} {STAMP}
        (?: [A-Za-z0-9+/=]{{20,}}+ | [A-Z][A-Za-z-]{{2,20}}: [^\r\n\\\[]{{0,200}}+ ) )*+
    (?: (?: {_GAP} {STAMP} [A-Za-z0-9+/=]{{1,19}}+ ){{0,3}} {_GAP} {STAMP}
        -----END\ [A-Z0-9\ ]{{0,40}} | {_GAP} {STAMP} [A-Za-z0-9+/=]{{1,19}}+ \s{{0,4}}+ \Z )?
"""

TOKENS: Final = (
    _prefixed(
        "vendor token",
        _RARE,
        r"[\w+/=~.-]{8} | [\w+/=~.-]{1,7}+ \s{0,4}+ \Z",
        r"[\w+/=~.-]{1,7}+ (?: [\w+/=~.-] | \s | \Z )",
    ),
    _prefixed("vendor token with a digit", _SHARED, r"(?= [\w-]{0,24} [A-Z0-9] ) [\w-]{16}"),
    _prefixed(
        "vendor token of letters and digits", _WORDY, r"(?= [A-Za-z]{0,40} \d ) [A-Za-z0-9]{20}"
    ),
    _token(
        "JSON Web Token",
        r"eyJ (?: [\w-]{8,}+ (?: \.[\w-]*+ ){0,4} | [\w-]{4,7}+ (?= \s{0,4} \Z ) )",
        r"[\w-]{4,7}+ (?: [\w-] | \s | \Z )",
        "eyJ",
    ),
    _token(
        "JSON Web Token with a space in it",
        r"ey[\w-]{8,250}+\.ey[\w-]{8,}+ (?: \.[\w=-]*+ )?",
        r"[\w-]{8}",
        "ey",
    ),
    _token("JSON Web Token in base64", r"ZXlK[\w+/-]{40,}+={0,2}", r"[\w+/-]{8}", "ZXlK"),
    _token(
        "AWS access key id",
        r"A (?: KIA|SIA|BIA|CCA|3T[A-Z0-9] ) [A-Z0-9]{16} (?![A-Z0-9])",
        r"[a-z0-9]{16}",
        *("AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
    ),
    _token("Google API key", r"AIza[\w-]{30,}+", r"[\w-]{8}", "AIza"),
    _token("Google access token", r"ya29\.[\w.-]{20,}+", r"[\w.-]{8}", "ya29."),
    _token("Databricks token", r"dapi[0-9a-f]{32}(?:-\d)?", r"[0-9a-f]{8}", "dapi"),
    _token(
        "beginning of a token at the end of a text",
        r"""(?: A[KS]IA | AIza | ya29\. | dapi | hf_ | npm_ | SG\. | LTAI | sk- )
            (?= [A-Za-z_.-]{0,40} \d ) [\w.-]{4,60}+ (?= \s{0,4} \Z )""",
        r"[\w.-]{4}",
        *("AKIA", "ASIA", "AIza", "ya29.", "dapi", "hf_", "npm_", "SG.", "LTAI", "sk-"),
    ),
    _prefixed("AI vendor key", "sk-", r"(?= [\w-]{0,24} [A-Z0-9] ) [\w-]{20}"),
    _token(
        "Voyage key",
        r"(?: pa|al )- (?= [\w-]{0,40} \d ) (?= [\w-]{0,40} [A-Z] ) [\w-]{43} (?![\w-])",
        r"[\w-]{8}",
        *("pa-", "al-"),
    ),
    _token(
        "Stripe key",
        r"[rs]k_ (?: live|test|prod )_ (?: \w{10,}+ | \w{1,9}+ (?= \s{0,4} \Z ) )",
        r"\w{1,9}+ (?: \w | \s | \Z )",
        *("sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"),
    ),
    _token(
        "SendGrid key",
        r"SG\. (?: [\w-]{16,}+\.[\w-]{16,}+ | [\w=.-]{60,}+ )",
        r"[\w=-]{16}",
        "SG.",
    ),
    _token("Vault token", r"s\.[A-Za-z0-9]{24}(?!\w)", r"[a-z0-9]{12}", "s."),
    _token(
        "Hugging Face token", r"(?: hf | api_org )_[A-Za-z]{30,}+", r"[a-z]{8}", "hf_", "api_org_"
    ),
    _token("Twilio key", r"SK[0-9a-fA-F]{32}", r"[0-9a-f]{8}", "SK"),
    _token("Airtable token", r"pat\w{14}\.[a-f0-9]{64}", r"\w{14}\.", "pat"),
    _token(
        "Harness token",
        r"[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}",
        r"[\w-]{22}\.",
        *("pat.", "sat."),
    ),
    _token("Resend key", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", r"[a-z0-9]{8}_", "re_"),
    _token("ClickHouse key", r"4b1d[A-Za-z0-9]{38}", r"[a-z0-9]{8}", "4b1d"),
    _token(
        "1Password key", r"A3-[A-Z0-9]{6}- (?: [A-Z0-9]{5,11} -? ){4,5}", r"[a-z0-9]{6}-", "A3-"
    ),
    _token("Fly.io token", r"FlyV1\s[\w=/+,-]{80,}+", r"\s\S", "FlyV1"),
    _token("Cloudflare key", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{99,}+", r"[a-f0-9]{24}-", "v1.0-"),
    _inside("Azure client secret", r"Q~[\w.~-]{30,}+", r"[\w.~-]{8}", "q~", r"( [\w.~]{3} \d )"),
    _inside(
        "Authress key",
        r"\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,}+",
        r"[_-][a-z0-9-]{10,32}\.",
        ".acc",
        r"( \w{5,36} \. [a-z0-9]{4,6} )",
    ),
    _inside("Facebook token", r"[|%][\w-]{27,}+", r"[\w-]{12}", "|", r"( \d{15,16} )"),
    _inside("MaxMind key", r"_mmk(?!\w)", "", "_mmk", r"( [A-Za-z0-9]{6}_[A-Za-z0-9]{29} )"),
    _inside(
        "Terraform token",
        r"\.atlasv1\.[\w=-]{40,}+",
        r"[\w=-]{8}",
        ".atlasv1.",
        r"( [A-Za-z0-9]{1,24} )",
    ),
    _inside(
        "private key",
        rf"PRIVATE\ KEY[A-Z\ ]{{0,8}}----- ( {_PEM_BODY} )",
        r"(?:\ block)?-----",
        "private key",
        r"-----BEGIN\ [A-Z0-9\ ]{0,36}",
    ),
    _inside(
        "rest of a private key",
        rf"""\[\.\.\.\ \d{{1,15}}\ characters\ cut\ \.\.\.\]
            ( [A-Za-z0-9+/=]{{0,80}}+ {_PEM_BODY} ) (?<=PRIVATE\ KEY)""",
        r"\d{1,15}\ characters\ cut",
        "[... ",
    ),
    _inside(
        "PuTTY private key",
        r"Private-Lines:\ {0,3}\d{1,4}\s{1,2} ( (?: [A-Za-z0-9+/=]{1,80}+ \s{0,2}+ )++ )",
        "",
        "private-lines:",
    ),
    _token(
        "webhook",
        r"""(?: hooks\.slack\.com S (?:services|workflows|triggers) S | hooks\.zapier\.com S hooks S
              | discord(?:app)?\.com S api S webhooks S ) ( [^\s"'<>]++ )""".replace(
            "S", r"(?: \\{0,3}/ | %2[fF] )"
        ),
        r"[\\/%]",
        *("hooks.slack.com", "discord.com", "discordapp.com", "hooks.zapier.com"),
    ),
    _token(
        "Teams webhook", r"""webhook\.office\.com/ ( [^\s"'<>]++ )""", "", "webhook.office.com/"
    ),
)
