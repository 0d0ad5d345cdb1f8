//! Nothing but benches: apart, so that what they need is built for them alone.
