use counterpoint::*;
use counterpoint::quantity::*;
use std::time::Instant;
fn main(){
  let l=|s:f64|Mechanism::Laplace{scale:Noise::new(s).unwrap(),sensitivity:Sensitivity::new(1.0).unwrap()};
  let g=|s:f64|Mechanism::Gaussian{sigma:Noise::new(s).unwrap(),sensitivity:Sensitivity::new(1.0).unwrap()};
  let rr=|e:f64|Mechanism::RandomizedResponse{epsilon:Epsilon::new(e).unwrap(),buckets:Buckets::new(2).unwrap()};
  let r=|m:Mechanism,n:u64,q:Option<f64>|Release{mechanism:m,rate:q.map(|q|Rate::new(q).unwrap()),count:Count::new(n).unwrap(),part:None};
  let ask=|name:&str,list:Vec<Release>,delta:f64,tol:f64|{
    let p=Plan::with(list,Some(Adjacency::AddRemove),Group::ONE).unwrap();
    let mut o=Options::default(); o.tolerance=Tolerance::new(tol).unwrap();
    let _=p.epsilon(Delta::new(delta).unwrap(),&o);
    let s=Instant::now();
    let a=p.epsilon(Delta::new(delta).unwrap(),&o);
    println!("{name} {tol:e}: {:?} {:?}", a.map(|a|(a.bracket,a.bracket.relative_width(),a.route)), s.elapsed());
  };
  for tol in [1e-6]{
  ask("1000 laplace .1 18.950287367540",vec![r(l(10.0),1000,None)],1e-6,tol);
  ask("mix 12.064250334773",vec![r(g(2.0),10,None),r(l(20.0),100,None),r(rr(0.2),50,None)],1e-6,tol);
  ask("dpsgd 6.187712389972",vec![r(g(1.0),10_000,Some(0.01))],1e-5,tol);
  ask("dpsgd 1e6",vec![r(g(1.0),1_000_000,Some(0.01))],1e-5,tol);
  ask("dpsgd s2 2.446734",vec![r(g(2.0),10_000,Some(0.01))],1e-6,tol);
  ask("gauss",vec![r(g(1.0),1,None)],1e-6,tol);
  ask("gauss 1e-100",vec![r(g(1.0),1,None)],1e-100,tol);
  ask("dpsgd 1e-100",vec![r(g(1.0),10_000,Some(0.01))],1e-100,tol);
  }
}
