"""The same over gRPC, with a generated client. README.md says how to run it."""
import os

import grpc
from tss.signer.v1 import signer_pb2, signer_pb2_grpc
from tss.v1 import types_pb2

with grpc.insecure_channel("unix:" + os.environ.get("SIGNER_SOCKET", "signer.sock")) as channel:
    signer = signer_pb2_grpc.SignerStub(channel)
    # A new key takes longer than a call on the service does.
    key = signer.CreateKey(signer_pb2.CreateKeyRequest(name="payouts", curve=types_pb2.ED25519), timeout=300)
    print("key", key.public_key.hex())
    raw = signer_pb2.RawMessage(
        message=b"pay 5 to bob", signature_algorithm=types_pb2.EdDSA, hash_scheme=types_pb2.SHA512
    )
    request = signer_pb2.SignRequest(name=key.name, raw=raw, idempotency_key="payment-2")
    print("signature", signer.Sign(request, timeout=180).signature.hex())
