//! How many calls may be open at once.

/// The number of calls that may be open at once. It grows by one after each window of successes and halves after an overload (AIMD,
/// as in TCP's congestion avoidance, RFC 5681).
#[derive(Debug)]
pub(super) struct Limit {
    current: usize,
    ceiling: usize,
    successes: usize,
    /// Whether as many calls as allowed were open at once since the limit last changed.
    reached: bool,
    /// Overloads since the last success while only one call was allowed.
    at_one: u32,
    epoch: u64,
}

impl Limit {
    pub(super) fn new(start: usize, ceiling: usize) -> Self {
        Self {
            current: start.clamp(1, ceiling.max(1)),
            ceiling: ceiling.max(1),
            successes: 0,
            reached: false,
            at_one: 0,
            epoch: 0,
        }
    }

    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// The number of decreases so far, which tells under which limit a call was let in.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Records how many calls are open after another was let in.
    pub(super) fn entered(&mut self, open: usize) {
        self.reached |= open >= self.current;
    }

    /// Records the success of a call that was let in under `epoch`.
    ///
    /// A success does not count while there is room for more calls, because it says nothing about them. Nor does one from before a
    /// decrease.
    pub(super) fn succeeded(&mut self, epoch: u64) {
        self.at_one = 0;
        if epoch != self.epoch || !self.reached || self.current >= self.ceiling {
            return;
        }
        self.successes += 1;
        if self.successes >= self.current {
            self.current += 1;
            self.restart_window();
        }
    }

    /// Records an overload of a call that was let in under `epoch`, and returns the number of overloads in a row while only one call
    /// was allowed. As long as that is 0, fewer calls at once may help; after that only a pause does.
    ///
    /// Calls that were open at a decrease met the same overload, which counts once.
    pub(super) fn overloaded(&mut self, epoch: u64) -> u32 {
        if epoch != self.epoch {
            return 0;
        }
        if self.current == 1 {
            self.at_one = self.at_one.saturating_add(1);
        }
        self.current = (self.current / 2).max(1);
        self.epoch += 1;
        self.restart_window();
        self.at_one
    }

    fn restart_window(&mut self) {
        self.successes = 0;
        self.reached = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets in as many calls as allowed and has them succeed.
    fn calm_window(limit: &mut Limit) -> usize {
        let (window, epoch) = (limit.current(), limit.epoch());
        (1..=window).for_each(|open| limit.entered(open));
        (1..=window).for_each(|_| limit.succeeded(epoch));
        limit.current()
    }

    #[test]
    fn grows_by_one_after_a_window_of_successes_up_to_the_ceiling() {
        let mut limit = Limit::new(2, 4);
        limit.entered(1);
        limit.entered(2);
        limit.succeeded(0);
        assert_eq!(limit.current(), 2);
        limit.succeeded(0);
        assert_eq!(limit.current(), 3);
        assert_eq!(calm_window(&mut limit), 4);
        assert_eq!(calm_window(&mut limit), 4);
    }

    #[test]
    fn successes_with_room_to_spare_prove_nothing() {
        let mut limit = Limit::new(2, 8);
        for _ in 0..100 {
            limit.entered(1);
            limit.succeeded(0);
        }
        assert_eq!(limit.current(), 2);
    }

    #[test]
    fn halves_once_for_all_calls_that_were_open_together() {
        let mut limit = Limit::new(32, 32);
        for _ in 0..32 {
            limit.overloaded(0);
        }
        assert_eq!(limit.current(), 16);
        limit.overloaded(limit.epoch());
        assert_eq!(limit.current(), 8);
    }

    #[test]
    fn never_falls_below_one_and_climbs_back() {
        let mut limit = Limit::new(3, 3);
        for _ in 0..5 {
            limit.overloaded(limit.epoch());
        }
        assert_eq!(limit.current(), 1);
        let trajectory: Vec<usize> = (0..3).map(|_| calm_window(&mut limit)).collect();
        assert_eq!(trajectory, [2, 3, 3]);
    }

    #[test]
    fn overloads_in_a_row_are_counted_from_one_call_at_a_time_on() {
        let mut limit = Limit::new(4, 4);
        let counts: Vec<u32> = (0..5).map(|_| limit.overloaded(limit.epoch())).collect();
        // 4 and 2 are halved; then come three overloads with one call at a time.
        assert_eq!(counts, [0, 0, 1, 2, 3]);
        limit.succeeded(0);
        assert_eq!(limit.overloaded(limit.epoch()), 1);
        assert_eq!(limit.overloaded(0), 0);
    }

    #[test]
    fn a_success_from_before_a_decrease_does_not_count() {
        let mut limit = Limit::new(2, 8);
        limit.overloaded(0);
        limit.entered(1);
        limit.succeeded(0);
        assert_eq!(limit.current(), 1);
    }
}
