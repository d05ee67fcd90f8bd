"""Follows the signatures of a project over gRPC. README.md says how to run it."""
import json
import sys

import grpc
from google.rpc import error_details_pb2, status_pb2
from tss.v1 import billing_pb2, billing_pb2_grpc, onboarding_pb2, onboarding_pb2_grpc, signing_pb2, signing_pb2_grpc

with open(".data/dev.json", encoding="utf-8") as file:
    access = json.load(file)
key = (("authorization", "Bearer " + access["apiKey"]),)

with grpc.insecure_channel(access["baseUrl"].removeprefix("http://")) as channel:
    onboarding = onboarding_pb2_grpc.OnboardingStub(channel)
    signing = signing_pb2_grpc.SigningStub(channel)
    billing = billing_pb2_grpc.BillingStub(channel)

    print("network", onboarding.GetNetwork(onboarding_pb2.GetNetworkRequest(), timeout=10).network)
    balance = billing.GetBalance(billing_pb2.GetBalanceRequest(), metadata=key, timeout=10)
    print("balance", balance.balance_micro_usd - balance.held_micro_usd, "micro-USD")

    # Lists come in pages. The last page has no token.
    token = ""
    while True:
        request = onboarding_pb2.ListDWalletsRequest(page_size=100, page_token=token)
        page = onboarding.ListDWallets(request, metadata=key, timeout=10)
        for dwallet in page.dwallets:
            print("dwallet", dwallet.dwallet_id, dwallet.public_key.hex())
        token = page.next_page_token
        if not token:
            break

    # Follow the newest request until it ends.
    for newest in signing.ListSigns(signing_pb2.ListSignsRequest(page_size=1), metadata=key, timeout=10).sign_requests:
        watch = signing_pb2.WatchSignRequest(sign_request_id=newest.sign_request_id)
        for event in signing.WatchSign(watch, metadata=key):
            if event.HasField("sign_request"):
                state = event.sign_request
                print(signing_pb2.SignRequest.Status.Name(state.status), state.signature.hex())

    # Every error has a machine-readable reason.
    try:
        unknown = signing_pb2.GetSignRequest(sign_request_id="00000000-0000-7000-8000-000000000000")
        signing.GetSign(unknown, metadata=key, timeout=10)
        sys.exit("the request should not exist")
    except grpc.RpcError as error:
        details = dict(error.trailing_metadata())["grpc-status-details-bin"]
        info = error_details_pb2.ErrorInfo()
        status_pb2.Status.FromString(details).details[0].Unpack(info)
        print("error", info.reason)
