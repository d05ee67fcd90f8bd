/// Session identifiers, and the price of sessions.
module ika_dwallet_2pc_mpc::sessions_manager;

use ika::ika::IKA;
use sui::balance::{Self, Balance};
use sui::coin::Coin;
use sui::event;
use sui::hash;
use sui::sui::SUI;
use sui::table::{Self, Table};

const EInsufficientIKAPayment: u64 = 1;
const EInsufficientSUIPayment: u64 = 2;
const ESessionIdentifierAlreadyRegistered: u64 = 3;
const ESessionIdentifierInvalidLength: u64 = 5;

public struct SessionIdentifier has key, store { id: UID, identifier_preimage: vector<u8> }

public struct UserSessionIdentifierRegisteredEvent has copy, drop, store {
    session_object_id: ID,
    session_identifier_preimage: vector<u8>,
}

public struct SessionsManager has store {
    registered: Table<vector<u8>, bool>,
    ika: Balance<IKA>,
    sui: Balance<SUI>,
}

public(package) fun create(ctx: &mut TxContext): SessionsManager {
    SessionsManager { registered: table::new(ctx), ika: balance::zero(), sui: balance::zero() }
}

public(package) fun register_session_identifier(
    self: &mut SessionsManager,
    bytes: vector<u8>,
    ctx: &mut TxContext,
): SessionIdentifier {
    assert!(bytes.length() == 32, ESessionIdentifierInvalidLength);
    let mut preimage = std::bcs::to_bytes(&ctx.sender());
    preimage.append(bytes);
    let identifier_preimage = hash::keccak256(&preimage);
    assert!(!self.registered.contains(identifier_preimage), ESessionIdentifierAlreadyRegistered);
    self.registered.add(identifier_preimage, true);
    let id = object::new(ctx);
    event::emit(UserSessionIdentifierRegisteredEvent {
        session_object_id: id.to_inner(),
        session_identifier_preimage: identifier_preimage,
    });
    SessionIdentifier { id, identifier_preimage }
}

/// Takes exactly the price out of the coins, and uses up the identifier.
public(package) fun initiate_user_session(
    self: &mut SessionsManager,
    identifier: SessionIdentifier,
    ika: u64,
    sui: u64,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
) {
    assert!(payment_ika.value() >= ika, EInsufficientIKAPayment);
    assert!(payment_sui.value() >= sui, EInsufficientSUIPayment);
    self.ika.join(payment_ika.split(ika, ctx).into_balance());
    self.sui.join(payment_sui.split(sui, ctx).into_balance());
    let SessionIdentifier { id, identifier_preimage: _ } = identifier;
    id.delete();
}
