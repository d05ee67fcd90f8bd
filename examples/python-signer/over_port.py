"""Makes a key and signs with it, through the port of a signer. README.md says how to run it."""
import base64
import json
import os
import subprocess
import tempfile
import urllib.error
import urllib.request

with open(os.environ["SIGNER_TOKEN_FILE"], encoding="ascii") as file:
    headers = {"authorization": "Bearer " + file.read().strip(), "content-type": "application/json"}


def call(path, body):
    url = os.environ.get("SIGNER_URL", "http://127.0.0.1:8420") + "/v1/signer/" + path
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as reply:
        return json.load(reply)


def verified(public_key, text, signature):
    """Whether OpenSSL accepts the signature. It reads an Ed25519 key in the form of X.509: this prefix and the key."""
    with tempfile.TemporaryDirectory() as folder:
        key = bytes.fromhex("302a300506032b6570032100") + public_key
        for name, data in ("key", key), ("text", text), ("signature", signature):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        argv = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in text -sigfile signature"
        return subprocess.run(argv.split(), cwd=folder, stdout=subprocess.DEVNULL, check=False).returncode == 0


# The same name returns the same key, so that this also runs after a crash.
key = call("keys", {"name": "payouts", "curve": "ED25519"})
text = b"pay 5 to grace"
raw = {"message": base64.b64encode(text).decode(), "signatureAlgorithm": "EdDSA", "hashScheme": "SHA512"}
# The same idempotency key returns the same signature, for one charge.
signed = call("keys/payouts/sign", {"raw": raw, "idempotencyKey": "payment-7"})
public_key, signature = base64.b64decode(key["publicKey"]), base64.b64decode(signed["signature"])
print("key", public_key.hex())
print("signature", signature.hex())
print("verified", str(verified(public_key, text, signature)).lower())

# Every error has a machine-readable reason.
try:
    call("keys/unknown/sign", {"raw": raw})
except urllib.error.HTTPError as error:
    print("error", json.load(error)["details"][0]["reason"])
