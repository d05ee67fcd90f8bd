"""Makes a key and signs with it, through a signer on this machine. README.md says how to run it."""
import base64
import http.client
import json
import os
import socket
import sys


class Signer(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ.get("SIGNER_SOCKET", "signer.sock"))


def call(path, body):
    signer = Signer("localhost")
    signer.request("POST", "/v1/signer/" + path, json.dumps(body), {"content-type": "application/json"})
    reply = signer.getresponse()
    answer = json.load(reply)
    if reply.status != 200:
        sys.exit("the signer refuses: " + answer["message"])
    return answer


# The same name returns the same key, so that this also runs after a crash.
key = call("keys", {"name": "payouts", "curve": "ED25519"})
print("key", base64.b64decode(key["publicKey"]).hex())
print("solana", next(each["address"] for each in key["addresses"] if each["kind"] == "solana"))

message = base64.b64encode(b"pay 5 to alice").decode()
raw = {"message": message, "signatureAlgorithm": "EdDSA", "hashScheme": "SHA512"}
# The same idempotency key returns the same signature, for one charge.
signed = call("keys/payouts/sign", {"raw": raw, "idempotencyKey": "payment-1"})
print("signature", base64.b64decode(signed["signature"]).hex())
