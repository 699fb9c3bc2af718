from __future__ import annotations

import base64

import pytest

from geocast.deliver.signing import new_secret, sign, signing_key
from geocast.errors import InputError


def test_the_example_of_standard_webhooks() -> None:
    """The values are those of the test of the reference libraries."""
    key = signing_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signature = sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_other_text_is_its_own_bytes() -> None:
    assert signing_key("sch\u00f6n") == "sch\u00f6n".encode()


def test_new_secrets_differ_and_have_32_bytes() -> None:
    first, second = new_secret(), new_secret()
    assert first != second
    assert len(signing_key(first)) == 32
    assert base64.b64decode(first.removeprefix("whsec_")) == signing_key(first)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_not base64!", "whsec_abc"])
def test_a_secret_without_a_key_is_refused_and_not_repeated(secret: str) -> None:
    with pytest.raises(InputError) as caught:
        signing_key(secret)
    assert "not base64!" not in str(caught.value)
