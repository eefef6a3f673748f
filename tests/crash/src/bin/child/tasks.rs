//! The tasks of a child.

use triplane_crash::order;
use triplane_referee::journal::Entry;

use crate::desk::{Desk, key, variable};
use crate::owner::Telling;
use crate::{crowd, destination, elder, points};

/// How many facts are told at the same time.
const TOGETHER: usize = 6;

pub(crate) fn run() -> anyhow::Result<()> {
    let task = variable(order::TASK)?;
    if task == "receive" {
        return destination::receive();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match task.as_str() {
            "older" => elder::make().await,
            "fill" => crowd::fill().await,
            "share" => crowd::share().await,
            "work" => work().await,
            "recover" => recover().await,
            other => anyhow::bail!("no such task: {other}"),
        }
    })?;
    points::tell()?;
    Ok(())
}

/// Every operation of the store, in an order that the seed turns.
async fn work() -> anyhow::Result<()> {
    let desk = Desk::open().await?;
    let other = desk.second().await?;
    let destination = desk.destination(&other)?;
    let courier = desk.courier(destination.clone())?;
    desk.read_back().await?;
    let stages = 6;
    for stage in 0..stages {
        // The first fact of all stages before is what later ones work on.
        match (stage + desk.seed) % stages {
            0 => desk.tell_all().await?,
            1 => {
                let together = Desk::together()?;
                desk.tell_together(&other, &together).await?;
            }
            2 => desk.deliver(&courier, &destination).await?,
            3 => {
                desk.deliver(&courier, &destination).await?;
                desk.confirm(&destination).await?;
            }
            4 => {
                desk.send_again().await?;
                desk.deliver(&courier, &destination).await?;
                desk.purge().await?;
            }
            _ => desk.back_up().await?,
        }
    }
    desk.deliver(&courier, &destination).await?;
    desk.confirm(&destination).await?;
    desk.purge().await?;
    other.close().await?;
    desk.store.close().await?;
    Ok(())
}

/// Opens the store again and works until nothing is left.
async fn recover() -> anyhow::Result<()> {
    let desk = Desk::open().await?;
    let other = desk.second().await?;
    let destination = desk.destination(&other)?;
    let courier = desk.courier(destination.clone())?;
    desk.deliver(&courier, &destination).await?;
    desk.confirm(&destination).await?;
    desk.deliver_all(&courier, &destination).await?;
    other.close().await?;
    desk.store.close().await?;
    desk.journal.write(&[Entry::Idle])?;
    Ok(())
}

impl Desk {
    /// One fact of each kind.
    async fn tell_all(&self) -> anyhow::Result<()> {
        let soon_us = triplane_state::clock::Clock::now_us(&*self.clock) + 1;
        let tell = |name, sink, behaviour| anyhow::Ok(Telling::new(key(name)?, sink, behaviour));
        let with = |telling: Telling, change: fn(&mut Telling)| {
            let mut telling = telling;
            change(&mut telling);
            telling
        };
        let mut facts = vec![
            tell("plain", "proc", "ok")?,
            with(tell("owned", "proc", "ok")?, |it| it.owner_row = true),
            with(tell("keyed", "proc", "retry")?, |it| {
                it.dedup = Some("shared".into());
            }),
            with(tell("confirmed", "proc", "ok")?, |it| it.confirmed = true),
            tell("rejected", "proc", "reject")?,
            tell("unknown", "proc", "unknown")?,
            tell("jump", "proc", "jump")?,
            tell("rival", "proc", "rival")?,
            tell("late", "proc", "late")?,
            tell("filed", "file", "ok")?,
            tell("run", "argv", "ok")?,
            tell("absent", "absent", "ok")?,
        ];
        let mut expires = tell("expires", "proc", "ok")?;
        expires.expires_at_us = Some(soon_us);
        facts.push(expires);
        let turn = usize::try_from(self.seed).unwrap_or_default() % facts.len();
        facts.rotate_left(turn);
        for telling in &facts {
            self.tell(telling).await?;
        }
        // The same fact again is no new one.
        self.tell(&facts[0].clone()).await?;
        let dedup = key("held")?;
        let mut winner = tell("taken-back", "proc", "ok")?;
        winner.dedup = Some(dedup.clone());
        winner.owner_row = true;
        self.take_back(&winner).await?;
        let mut loser = tell("after-it", "proc", "ok")?;
        loser.dedup = Some(dedup);
        self.tell(&loser).await?;
        let mut along = tell("along", "proc", "ok")?;
        along.owner_row = true;
        self.tell_along(&along).await
    }

    fn together() -> anyhow::Result<Vec<Telling>> {
        let numbered = |n: usize| key(&format!("together-{n}"));
        (0..TOGETHER)
            .map(|n| {
                let mut telling = Telling::new(numbered(n)?, "file", "ok");
                telling.session = String::from("two");
                if n < 2 {
                    telling.dedup = Some("together".into());
                }
                Ok(telling)
            })
            .collect()
    }
}
