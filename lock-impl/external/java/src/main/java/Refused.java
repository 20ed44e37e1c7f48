/** Certainly not done; the message is the reason that the report shows. */
final class Refused extends Exception {
  Refused(String reason) {
    super(reason);
  }
}
