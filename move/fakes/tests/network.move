/// What tests need of Ika beside the coordinator's own calls, here of the fake coordinator.
#[test_only]
module treasury::network;

use ika_dwallet_2pc_mpc::coordinator::{Self, DWalletCoordinator};
use ika_dwallet_2pc_mpc::coordinator_inner::price_for_testing;
use sui::tx_context::new_from_hint;

/// The transaction of the test.
public struct Network { ctx: TxContext }

/// A network with a coordinator, in the first transaction of a sender.
public fun start(sender: address): (Network, DWalletCoordinator) {
    let mut ctx = new_from_hint(sender, 1, 0, 0, 0);
    let coordinator = coordinator::new_for_testing(&mut ctx);
    (Network { ctx }, coordinator)
}

public fun stop(self: Network, coordinator: DWalletCoordinator) {
    let Network { ctx: _ } = self;
    coordinator.share_for_testing();
}

public fun ctx(self: &mut Network): &mut TxContext {
    &mut self.ctx
}

/// What every session costs, in IKA and SUI.
public fun price(): (u64, u64) {
    price_for_testing()
}

public fun key_id(_self: &Network, coordinator: &DWalletCoordinator): ID {
    coordinator.network_key_id_for_testing()
}

/// The address of the user of a curve.
public fun user(curve: u32): address {
    if (curve == 0) @0xa0 else @0xa2
}

/// Registers an encryption key of a curve for its user.
public fun register_user(_self: &mut Network, coordinator: &mut DWalletCoordinator, curve: u32) {
    coordinator.register_for_testing(user(curve), curve);
}

/// The network makes the presign.
public fun complete_presign(_self: &mut Network, coordinator: &mut DWalletCoordinator, presign_id: ID) {
    coordinator.complete_presign_for_testing(presign_id);
}

/// The network makes the dWallet, and its user accepts it.
public fun activate_dwallet(_self: &mut Network, coordinator: &mut DWalletCoordinator, dwallet_id: ID) {
    coordinator.activate_dwallet_for_testing(dwallet_id);
}

/// Ika stops serving a curve for some time.
public fun pause_curve(_self: &mut Network, coordinator: &mut DWalletCoordinator, curve: u32) {
    coordinator.pause_curve_for_testing(curve);
}

/// Ika moves its coordinator to the next version of its package.
public fun move_on(_self: &mut Network, coordinator: &mut DWalletCoordinator) {
    coordinator.move_on_for_testing();
}
